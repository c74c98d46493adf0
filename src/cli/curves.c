/* The curves of brio calibrate as pictures of letters, as JSON, and back. */
#include "cli/curves.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/report.h"

size_t brio_curve_size(int i)
{
    return (size_t)4096 << i;
}

static void print_curve(const struct brio_speeds *c)
{
    double most = 0;
    for (int i = 0; i < BRIO_CURVE_SIZES; i++)
        most = c->best[i] > most ? c->best[i] : most;
    printf("  %s, %d process%s\n", c->write ? "Writes" : "Reads", c->procs,
           c->procs == 1 ? "" : "es");
    for (int i = 0; i < BRIO_CURVE_SIZES; i++) {
        if (c->best[i] <= 0)
            continue;
        char *size = brio_report_bytes((double)brio_curve_size(i));
        char *speed = brio_report_bytes(c->best[i]);
        int wide = (int)(40 * c->best[i] / most + 0.5);
        printf("    %9s ", size);
        for (int x = 0; x < 40; x++)
            putchar(x < wide ? '#' : '.');
        printf(" %11s/s%s\n", speed, brio_curve_size(i) == c->k ? "  <- k" : "");
        free(size);
        free(speed);
    }
    printf("\n");
}

int brio_measured_ring(const struct brio_measured *m, bool warm)
{
    const double *speed = m->ring[warm];
    return speed[0] > 0 && speed[1] > 0 ? (int)(100 * speed[1] / speed[0] + 0.5) : 0;
}

static void print_rings(const struct brio_measured *m)
{
    static const char *const from[] = {"disk", "memory"};
    if (!brio_measured_ring(m, false)) {
        printf("  Scattered reads by io_uring were not measured.\n");
        return;
    }
    printf("  Scattered reads of 64 KiB by plain calls, and by io_uring (fbtl=uring)\n");
    for (int warm = 0; warm < 2; warm++) {
        char *plain = brio_report_bytes(m->ring[warm][0]);
        char *ring = brio_report_bytes(m->ring[warm][1]);
        printf("    from %-6s %11s/s %11s/s  %.2f x\n", from[warm], plain, ring,
               m->ring[warm][1] / m->ring[warm][0]);
        free(plain);
        free(ring);
    }
}

void brio_measured_print(const struct brio_measured *m, const struct brio_mount *mount)
{
    char *write = brio_report_bytes((double)m->curve[0].k);
    char *read = brio_report_bytes((double)m->curve[1].k);
    char when[32];
    time_t stamp = (time_t)m->when;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M", localtime(&stamp));
    printf("%s, measured %s (%s)\n\n", mount->point, when,
           m->direct ? "accesses go past the cache" : "each write is synced");
    for (int i = 0; i < BRIO_CURVES; i++)
        print_curve(&m->curve[i]);
    printf("  k: one process reaches its full speed with writes of %s and reads of %s.\n",
           write, read);
    print_rings(m);
    free(write);
    free(read);
}

void brio_measured_json(FILE *out, const struct brio_measured *m,
                        const struct brio_mount *mount, const char *kept)
{
    fputs("{\n  \"mount\": ", out);
    brio_json_put(out, mount->key);
    fprintf(out,
            ",\n  \"when\": %lld,\n  \"direct\": %s,\n  \"k_write\": %zu,\n  \"k_read\": %zu,\n"
            "  \"kept\": ",
            m->when, m->direct ? "true" : "false", m->curve[0].k, m->curve[1].k);
    brio_json_put(out, kept);
    fprintf(out, ",\n  \"ring\": [[%.0f, %.0f], [%.0f, %.0f]]", m->ring[0][0], m->ring[0][1],
            m->ring[1][0], m->ring[1][1]);
    fputs(",\n  \"curves\": [", out);
    for (int i = 0; i < BRIO_CURVES; i++) {
        const struct brio_speeds *c = &m->curve[i];
        const char *comma = "";
        fprintf(out,
                "%s\n    {\"access\": \"%s\", \"processes\": %d, \"k\": %zu, \"points\": [",
                i ? "," : "", c->write ? "write" : "read", c->procs, c->k);
        for (int s = 0; s < BRIO_CURVE_SIZES; s++) {
            if (c->best[s] <= 0)
                continue;
            fprintf(out, "%s[%zu, %.0f]", comma, brio_curve_size(s), c->best[s]);
            comma = ", ";
        }
        fputs("]}", out);
    }
    fputs("]\n}\n", out);
}

/* ---- Kept ----------------------------------------------------------------------------------
 */

/* FILE.d/<a number for the mount>.json; FILE.d alone with `dir`. */
static char *name_of(const char *file, const struct brio_mount *mount, bool dir)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (const char *c = mount->key; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    return dir ? brio_text("%s.d", file)
               : brio_text("%s.d/%016llx.json", file, (unsigned long long)hash);
}

bool brio_measured_keep(const char *file, const struct brio_measured *m,
                        const struct brio_mount *mount)
{
    char *dir = name_of(file, mount, true), *path = name_of(file, mount, false);
    char *next = brio_text("%s.%d", path, (int)getpid());
    (void)mkdir(dir, 0755); /* the open tells if it is not there */
    FILE *out = fopen(next, "we");
    if (out)
        brio_measured_json(out, m, mount, file);
    bool bad = !out || ferror(out) != 0;
    if (out)
        bad |= fclose(out) != 0;
    bad = bad || rename(next, path) != 0;
    if (bad)
        unlink(next);
    free(next);
    free(path);
    free(dir);
    return !bad;
}

static void take_curve(const struct brio_json *from, struct brio_speeds *c)
{
    const struct brio_json *points = brio_json_get(from, "points");
    c->write = strcmp(brio_json_text(brio_json_get(from, "access")), "write") == 0;
    c->procs = (int)brio_json_number(brio_json_get(from, "processes"));
    c->k = (size_t)brio_json_number(brio_json_get(from, "k"));
    for (size_t i = 0; i < points->n; i++) {
        const struct brio_json *point = brio_json_at(points, i);
        double size = brio_json_number(brio_json_at(point, 0));
        for (int s = 0; s < BRIO_CURVE_SIZES; s++)
            if ((double)brio_curve_size(s) == size)
                c->best[s] = brio_json_number(brio_json_at(point, 1));
    }
}

/* Those that were kept before there were any have none. */
static void take_rings(const struct brio_json *from, struct brio_measured *out)
{
    for (size_t i = 0; i < 4 && from && from->n == 2; i++)
        out->ring[i / 2][i % 2] =
            brio_json_number(brio_json_at(brio_json_at(from, i / 2), i % 2));
}

bool brio_measured_recall(const char *file, const struct brio_mount *mount,
                          struct brio_measured *out)
{
    char *path = name_of(file, mount, false), *text = NULL;
    size_t room = 0;
    FILE *in = fopen(path, "re");
    ssize_t n = in ? getdelim(&text, &room, '\0', in) : -1;
    struct brio_json *v = n > 0 ? brio_json_parse(text) : NULL;
    const struct brio_json *curves = v ? brio_json_get(v, "curves") : NULL;
    bool good = curves && curves->n == BRIO_CURVES &&
                strcmp(brio_json_text(brio_json_get(v, "mount")), mount->key) == 0;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; good && i < BRIO_CURVES; i++)
        take_curve(brio_json_at(curves, i), &out->curve[i]);
    if (good) {
        take_rings(brio_json_get(v, "ring"), out);
        out->direct = brio_json_number(brio_json_get(v, "direct")) > 0;
        out->when = (long long)brio_json_number(brio_json_get(v, "when"));
    }
    brio_json_free(v);
    free(text);
    free(path);
    if (in)
        fclose(in);
    return good;
}
