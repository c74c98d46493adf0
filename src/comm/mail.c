/* By memory, each rank has a part of the board: for every rank one word, where in the part its
 * letter is and how long, then the letters. By messages, sizes first, then an agreement that
 * everybody has room, then the words. */
#include "comm/mail.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "comm/real.h"
#include "comm/verdict.h"

/* Words of the board that each rank has at first, and so many more for every rank there is: a
 * pattern or a few windows each. */
enum {
    ROOM = 512,
    ROOM_A_RANK = 32
};

BRIO_ERR brio_mail_open(struct brio_mail *m, const struct brio_team *team,
                        struct brio_region *region, size_t board)
{
    size_t n = (size_t)team->nranks;
    memset(m, 0, sizeof *m);
    m->team = team;
    m->region = region;
    m->board = board;
    m->room = ROOM + ROOM_A_RANK * n;
    m->req = MPI_REQUEST_NULL;
    enum brio_err err = brio_calloc(4 * n, sizeof(int), (void **)&m->out_n);
    if (err)
        return err;
    m->out_at = m->out_n + n;
    m->in_n = m->out_n + 2 * n;
    m->in_at = m->out_n + 3 * n;
    return BRIO_OK;
}

void brio_mail_close(struct brio_mail *m)
{
    free(m->out_n);
    free(m->out);
    free(m->in);
    memset(m, 0, sizeof *m);
}

void brio_mail_reset(struct brio_mail *m)
{
    memset(m->out_n, 0, 2 * (size_t)m->team->nranks * sizeof(int));
    m->out_used = 0;
    m->err = BRIO_OK;
}

int64_t *brio_mail_put(struct brio_mail *m, int rank, size_t n)
{
    size_t need = m->out_used + n;
    if (m->err)
        return NULL;
    if (need > INT_MAX) {
        m->err = brio_fail(BRIO_ENOMEM, "a description of more than %d words", INT_MAX);
        return NULL;
    }
    if (need > m->out_room) {
        size_t room = 2 * need + 64;
        int64_t *more = realloc(m->out, room * sizeof *more);
        if (!more) {
            m->err = brio_fail(BRIO_ENOMEM, "no memory for %zu words", room);
            return NULL;
        }
        m->out = more;
        m->out_room = room;
    }
    m->out_at[rank] = (int)m->out_used;
    m->out_n[rank] = (int)n;
    m->out_used = need;
    return m->out + m->out_at[rank];
}

void brio_mail_same(struct brio_mail *m, int rank, int other)
{
    m->out_at[rank] = m->out_at[other];
    m->out_n[rank] = m->out_n[other];
}

/* ---- By memory ------------------------------------------------------------------------ */

static int64_t *part_of(const struct brio_mail *m, int rank)
{
    size_t part = (size_t)m->half * (size_t)m->team->nranks + (size_t)rank;
    return (int64_t *)(void *)(m->region->mem + m->board) + part * m->room;
}

static size_t board_bytes(const struct brio_mail *m)
{
    return m->board + 2 * (size_t)m->team->nranks * m->room * sizeof(int64_t);
}

static size_t words_needed(const struct brio_mail *m)
{
    return (size_t)m->team->nranks + m->out_used;
}

static void post(struct brio_mail *m)
{
    int64_t *part = part_of(m, m->team->rank);
    int nranks = m->team->nranks;
    for (int r = 0; r < nranks; r++)
        part[r] = (int64_t)m->out_at[r] << 32 | m->out_n[r];
    if (m->out_used > 0)
        memcpy(part + nranks, m->out, m->out_used * sizeof *part);
}

/* Puts this rank's letters up if there is room for them, and says how much they need. */
static void meet(struct brio_mail *m)
{
    if (!m->err && words_needed(m) <= m->room)
        post(m);
    m->stage = BRIO_MAIL_POSTED;
    m->reduce.n = 2;
    m->reduce.in[0] = brio_verdict_vote(m->team, m->err);
    m->reduce.in[1] = (int64_t)words_needed(m);
    brio_reduce_start(&m->reduce, m->team);
}

/* True when all letters are there, or never will be. */
static bool posted(struct brio_mail *m, enum brio_wait how)
{
    enum brio_err err;
    for (;;) {
        if (m->stage == BRIO_MAIL_BOARD) {
            if (!brio_region_step(m->region, how, &err))
                return false;
            if (err) { /* of all ranks */
                m->err = err;
                return true;
            }
            meet(m);
        }
        if (!brio_reduce_done(&m->reduce, how))
            return false;
        if (!m->err)
            m->err = brio_verdict_read(m->reduce.out[0]);
        if (m->err || m->reduce.out[1] <= (int64_t)m->room)
            return true;
        m->room = (size_t)m->reduce.out[1];
        m->stage = BRIO_MAIL_BOARD;
        brio_region_need(m->region, board_bytes(m));
    }
}

/* ---- By messages ---------------------------------------------------------------------- */

static void send_sizes(struct brio_mail *m)
{
    m->stage = BRIO_MAIL_SIZES;
    if (m->err)
        memset(m->out_n, 0, (size_t)m->team->nranks * sizeof(int));
    if (PMPI_Ialltoall(m->out_n, 1, MPI_INT, m->in_n, 1, MPI_INT, m->team->comm, &m->req) !=
        MPI_SUCCESS) {
        m->req = MPI_REQUEST_NULL;
        m->err = brio_fail(BRIO_EINTERN, "MPI_Ialltoall failed");
    }
}

/* Sizes are known: room for what comes. */
static void make_room(struct brio_mail *m)
{
    size_t all = 0;
    for (int r = 0; r < m->team->nranks; r++) {
        m->in_at[r] = (int)all;
        all += (size_t)m->in_n[r];
    }
    free(m->in);
    m->in = NULL;
    if (!m->err && all > INT_MAX)
        m->err = brio_fail(BRIO_ENOMEM, "descriptions of %zu words", all);
    if (!m->err)
        m->err = brio_calloc(all, sizeof *m->in, (void **)&m->in);
}

static bool arrived(struct brio_mail *m, enum brio_wait how)
{
    if (m->req == MPI_REQUEST_NULL)
        return true;
    if (how == BRIO_POLL)
        return brio_real_test(&m->req);
    brio_real_wait(&m->req);
    return true;
}

static bool received(struct brio_mail *m, enum brio_wait how)
{
    if (m->stage == BRIO_MAIL_SIZES) {
        if (!arrived(m, how))
            return false;
        make_room(m);
        m->reduce.n = 1;
        m->reduce.in[0] = brio_verdict_vote(m->team, m->err);
        brio_reduce_start(&m->reduce, m->team);
        m->stage = BRIO_MAIL_ROOM;
    }
    if (m->stage == BRIO_MAIL_ROOM) {
        if (!brio_reduce_done(&m->reduce, how))
            return false;
        m->stage = BRIO_MAIL_WORDS;
        if (!m->err)
            m->err = brio_verdict_read(m->reduce.out[0]);
        if (!m->err && PMPI_Ialltoallv(m->out, m->out_n, m->out_at, MPI_INT64_T, m->in, m->in_n,
                                       m->in_at, MPI_INT64_T, m->team->comm, &m->req))
            m->err = brio_fail(BRIO_EINTERN, "MPI_Ialltoallv failed");
    }
    return arrived(m, how);
}

/* ---- Either way ----------------------------------------------------------------------- */

void brio_mail_start(struct brio_mail *m, size_t bytes)
{
    if (!m->region) {
        send_sizes(m);
        return;
    }
    size_t need = board_bytes(m);
    m->half = !m->half;
    m->stage = BRIO_MAIL_BOARD;
    brio_region_need(m->region, m->region->bytes >= need || bytes < need ? need : bytes);
}

bool brio_mail_step(struct brio_mail *m, enum brio_wait how, enum brio_err *out)
{
    if (m->stage != BRIO_MAIL_DONE && !(m->region ? posted(m, how) : received(m, how)))
        return false;
    m->stage = BRIO_MAIL_DONE;
    *out = m->err;
    return true;
}

const int64_t *brio_mail_read(const struct brio_mail *m, int rank, size_t *n)
{
    if (!m->region) {
        *n = (size_t)m->in_n[rank];
        return m->in + m->in_at[rank];
    }
    const int64_t *part = part_of(m, rank);
    int64_t where = part[m->team->rank];
    *n = (size_t)(where & UINT32_MAX);
    return part + m->team->nranks + (where >> 32);
}
