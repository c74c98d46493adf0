/* The workload of the torture test: three files, used in every way that MPI-IO has. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault/forms.h"
#include "fault/torture.h"

enum {
    LEN = 1024,       /* bytes of a contiguous access */
    SCATTERED = 8192, /* of one with gaps in memory */
    BLOCK = 16,       /* of a strided one */
    BLOCKS = 256,
    REGION = 1 << 16, /* every writing step has a part of the file for itself */
    RECORD = 64       /* what is written with the shared pointer */
};

static struct step *add(struct record *r, const char *name, int code)
{
    if (r->n == STEPS)
        abort();
    struct step *s = &r->steps[r->n++];
    *s = (struct step){.name = name, .code = code};
    return s;
}

/* A collective call that moves no data: true if it went well, which is so on all ranks or on
 * none. */
static bool all_did(struct record *r, const char *name, int code)
{
    int failed = code != MPI_SUCCESS, most = 0, least = 0;
    add(r, name, code)->coll = true;
    MPI_Allreduce(&failed, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&failed, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (most != least) {
        r->split = true;
        torture_complain(r, "%s %s here, and not so elsewhere", name,
                         failed ? "failed" : "succeeded");
    }
    return !most;
}

static void i_did(struct record *r, const char *name, int code)
{
    add(r, name, code);
}

static const struct form *form_named(const char *name)
{
    for (int i = 0; i < FORMS; i++)
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    abort();
}

static char byte_of(int step, int i)
{
    return (char)(1 + (step * 37 + torture_rank * 11 + i * 3 + i / 256) % 255);
}

/* A data access of `len` bytes; what it says is kept with its buffer. */
static void move(struct record *r, const char *name, MPI_File fh, MPI_Offset off, int len,
                 struct place at)
{
    const struct form *form = form_named(name);
    char *buf = calloc(1, (size_t)len);
    bool write = form_is(form, FORM_WRITE);
    for (int i = 0; write && i < len; i++)
        buf[i] = byte_of(r->n, i);
    struct form_call call = {.fh = fh, .off = off, .buf = buf, .count = len, .type = MPI_BYTE};
    MPI_Count bytes;
    int code = form_run(form, &call, &bytes);
    if (form_is(form, FORM_COLL))
        all_did(r, name, code);
    else
        i_did(r, name, code);
    struct step *s = &r->steps[r->n - 1];
    s->data = true;
    s->write = write;
    s->bytes = bytes;
    s->len = len;
    s->at = at;
    s->buf = buf;
}

/* The same from or to memory with gaps, so that one stretch of the file is many pieces. */
static void scatter(struct record *r, const char *name, MPI_File fh, struct place at, int piece)
{
    static char gaps[2 * SCATTERED];
    const struct form *form = form_named(name);
    MPI_Datatype type;
    MPI_Count bytes;
    char *buf = calloc(1, SCATTERED);
    bool write = form_is(form, FORM_WRITE);
    MPI_Type_vector(SCATTERED / piece, piece, 2 * piece, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    memset(gaps, 0, sizeof gaps);
    for (int i = 0; write && i < SCATTERED; i++)
        gaps[i / piece * 2 * piece + i % piece] = byte_of(r->n, i);
    struct form_call call = {.fh = fh, .off = at.base, .buf = gaps, .count = 1, .type = type};
    int code = form_run(form, &call, &bytes);
    for (int i = 0; i < SCATTERED; i++)
        buf[i] = gaps[i / piece * 2 * piece + i % piece];
    MPI_Type_free(&type);
    struct step *s = add(r, name, code);
    s->data = true;
    s->write = write;
    s->bytes = bytes;
    s->len = SCATTERED;
    s->at = at;
    s->buf = buf;
}

static bool open_file(struct record *r, const char *name, MPI_Comm comm, MPI_File *fh)
{
    *fh = MPI_FILE_NULL;
    return all_did(
        r, "open",
        MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, fh));
}

static bool view(struct record *r, MPI_File fh, MPI_Offset disp, MPI_Datatype type,
                 const char *rep)
{
    MPI_Datatype etype = strcmp(rep, "native") == 0 ? MPI_BYTE : MPI_INT;
    return all_did(r, rep, MPI_File_set_view(fh, disp, etype, type, rep, MPI_INFO_NULL));
}

/* The part of region k that is this rank's. */
static struct place mine(int k)
{
    MPI_Offset base =
        (MPI_Offset)k * REGION * torture_nranks + (MPI_Offset)torture_rank * REGION;
    return (struct place){.base = base, .block = REGION, .stride = REGION};
}

/* The ranks' blocks in turn, all over region k. */
static struct place in_turn(int k)
{
    MPI_Offset base = (MPI_Offset)k * REGION * torture_nranks + torture_rank * BLOCK;
    return (struct place){.base = base, .block = BLOCK, .stride = BLOCK * torture_nranks};
}

static void use_bytes(struct record *r, MPI_File fh)
{
    static const char *const writes[] = {"write_at",      "iwrite_at",          "write_at_all",
                                         "iwrite_at_all", "split_write_at_all", "write",
                                         "iwrite_all"};
    static const char *const reads[] = {"read_at",      "iread_at",          "read_at_all",
                                        "iread_at_all", "split_read_at_all", "read",
                                        "iread_all"};
    for (int k = 0; k < 7; k++) {
        i_did(r, "seek", MPI_File_seek(fh, mine(k).base, MPI_SEEK_SET));
        move(r, writes[k], fh, mine(k).base, LEN, mine(k));
    }
    for (int k = 0; k < 7; k++) {
        i_did(r, "seek", MPI_File_seek(fh, mine(k).base, MPI_SEEK_SET));
        move(r, reads[k], fh, mine(k).base, LEN, mine(k));
    }
}

static void use_blocks(struct record *r, MPI_File fh, int k)
{
    static const char *const writes[] = {"write_at_all", "write_at", "iwrite_at"};
    static const char *const reads[] = {"read_at_all", "read_at", "iread_at"};
    MPI_Datatype type;
    MPI_Type_vector(BLOCKS, BLOCK, BLOCK * torture_nranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 3; i++) {
        struct place at = in_turn(k + i);
        if (!view(r, fh, at.base, type, "native"))
            continue;
        move(r, writes[i], fh, 0, BLOCK * BLOCKS, at);
        move(r, reads[i], fh, 0, BLOCK * BLOCKS, at);
    }
    MPI_Type_free(&type);
}

static void free_if_derived(MPI_Datatype *type)
{
    int ints, addresses, types, combiner;
    MPI_Type_get_envelope(*type, &ints, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED)
        MPI_Type_free(type);
}

static void ask_questions(struct record *r, MPI_File fh)
{
    MPI_Offset off;
    MPI_Datatype e, t;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    char rep[MPI_MAX_DATAREP_STRING];
    int code = MPI_File_get_view(fh, &off, &e, &t, rep);
    i_did(r, "get_view", code);
    if (code == MPI_SUCCESS)
        free_if_derived(&t);
    i_did(r, "get_size", MPI_File_get_size(fh, &off));
    i_did(r, "seek to the end", MPI_File_seek(fh, 0, MPI_SEEK_END));
    i_did(r, "get_info", MPI_File_get_info(fh, &info));
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    i_did(r, "get_group", MPI_File_get_group(fh, &group));
    if (group != MPI_GROUP_NULL)
        MPI_Group_free(&group);
}

static void use_plain_file(struct record *r, const char *name, MPI_Comm comm)
{
    MPI_File fh;
    MPI_Offset size = (MPI_Offset)17 * REGION * torture_nranks;
    if (!open_file(r, name, comm, &fh))
        return;
    use_bytes(r, fh);
    scatter(r, "write_at", fh, mine(13), 8);
    scatter(r, "read_at", fh, mine(13), 8);
    scatter(r, "write_at", fh, mine(14), 512);
    scatter(r, "iwrite_at", fh, mine(15), 512);
    scatter(r, "iread_at", fh, mine(14), 512);
    use_blocks(r, fh, 7);
    if (all_did(r, "set_atomicity", MPI_File_set_atomicity(fh, 1)))
        use_blocks(r, fh, 10);
    ask_questions(r, fh);
    all_did(r, "preallocate", MPI_File_preallocate(fh, size));
    all_did(r, "set_size", MPI_File_set_size(fh, size));
    all_did(r, "sync", MPI_File_sync(fh));
    all_did(r, "close", MPI_File_close(&fh));
}

/* ---- The shared pointer: a record says who wrote it, and is in the file once ------------- */

static void share(struct record *r, const char *name, MPI_File fh)
{
    char text[RECORD] = "";
    const struct form *form = form_named(name);
    snprintf(text, sizeof text, "[rank %d step %d]", torture_rank, r->n);
    struct form_call call = {.fh = fh, .buf = text, .count = sizeof text, .type = MPI_BYTE};
    MPI_Count bytes;
    int code = form_run(form, &call, &bytes);
    if (form_is(form, FORM_COLL))
        all_did(r, name, code);
    else
        i_did(r, name, code);
    struct step *s = &r->steps[r->n - 1];
    s->bytes = bytes;
    s->len = sizeof text;
    s->write = form_is(form, FORM_WRITE);
    if (s->write) {
        s->buf = malloc(sizeof text);
        memcpy(s->buf, text, sizeof text);
    }
}

/* In the logs of a module that has no pointer, records are in the file when all is well until
 * the close; before that, a collective call that failed may have left some of them behind. */
static void use_logs(struct record *r, const char *name, MPI_Comm comm)
{
    MPI_File fh = MPI_FILE_NULL;
    bool whole = all_did(
        r, "open",
        MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &fh));
    if (!whole)
        return;
    for (int i = 0; i < 4; i++) /* some of it is spilled */
        share(r, i % 2 ? "iwrite_shared" : "write_shared", fh);
    share(r, "write_ordered", fh);
    whole = r->steps[r->n - 1].code == MPI_SUCCESS;
    share(r, "write_shared", fh);
    whole &= all_did(r, "sync", MPI_File_sync(fh));
    share(r, "split_write_ordered", fh);
    whole &= r->steps[r->n - 1].code == MPI_SUCCESS;
    whole &= all_did(r, "close", MPI_File_close(&fh));
    int all = whole, mine = whole;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    for (int i = 0; !all && i < r->n; i++) { /* nobody claims these */
        free(r->steps[i].buf);
        r->steps[i].buf = NULL;
    }
}

static void use_shared_pointer(struct record *r, const char *name, MPI_Comm comm)
{
    MPI_File fh;
    MPI_Offset at;
    if (!open_file(r, name, comm, &fh))
        return;
    share(r, "write_shared", fh);
    share(r, "iwrite_shared", fh);
    share(r, "write_ordered", fh);
    share(r, "split_write_ordered", fh);
    share(r, "write_shared", fh);
    i_did(r, "get_position_shared", MPI_File_get_position_shared(fh, &at));
    if (all_did(r, "seek_shared", MPI_File_seek_shared(fh, 0, MPI_SEEK_SET))) {
        share(r, "read_ordered", fh);
        share(r, "read_shared", fh);
    }
    all_did(r, "close", MPI_File_close(&fh));
}

/* ---- Data representations -----------------------------------------------------------------
 */

static void convert_ints(struct record *r, MPI_File fh, const char *rep)
{
    enum {
        INTS = 100
    };
    int out[INTS], in[INTS] = {0};
    MPI_Count wrote = 0, got = 0;
    if (!view(r, fh, (MPI_Offset)torture_rank * (int)sizeof out, MPI_INT, rep))
        return;
    for (int i = 0; i < INTS; i++)
        out[i] = i * 1000003 + torture_rank;
    struct form_call call = {.fh = fh, .buf = out, .count = INTS, .type = MPI_INT};
    bool written = all_did(r, "converting write_at_all",
                           form_run(form_named("write_at_all"), &call, &wrote));
    call.buf = in;
    int code = form_run(form_named("iread_at"), &call, &got);
    i_did(r, "converting iread_at", code);
    if (got > (MPI_Count)sizeof in || (written && memcmp(in, out, (size_t)got) != 0))
        torture_complain(r, "%s: %lld bytes read are not those written", rep, (long long)got);
    if (code == MPI_SUCCESS && written && got != sizeof in)
        torture_complain(r, "%s: only %lld bytes read", rep, (long long)got);
}

static void use_conversion(struct record *r, const char *name, MPI_Comm comm)
{
    MPI_File fh;
    if (!open_file(r, name, comm, &fh))
        return;
    convert_ints(r, fh, "external32");
    convert_ints(r, fh, "internal");
    all_did(r, "close", MPI_File_close(&fh));
}

/* With a sharedfp module forced, only the shared pointer: the rest is the same. */
void torture_work(const char *path, struct record *record)
{
    char name[600];
    const char *module = getenv("BRIO_SHAREDFP");
    MPI_Comm comm;
    *record = (struct record){0};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    snprintf(name, sizeof name, "%s.plain", path);
    if (!module)
        use_plain_file(record, name, comm);
    snprintf(name, sizeof name, "%s.shared", path);
    (module && strcmp(module, "individual") == 0 ? use_logs : use_shared_pointer)(record, name,
                                                                                  comm);
    snprintf(name, sizeof name, "%s.converted", path);
    if (!module)
        use_conversion(record, name, comm);
    MPI_Comm_free(&comm);
}

void torture_forget(struct record *record)
{
    for (int i = 0; i < record->n; i++)
        free(record->steps[i].buf);
    record->n = 0;
}
