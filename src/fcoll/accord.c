/* The words: of what must be the smallest, ~ of it. */
#include "fcoll/accord.h"

#include "comm/verdict.h"

enum word {
    WORST,     /* failure */
    MOST,      /* bytes left of one rank */
    LOW,       /* ~ of the first byte that is left */
    HIGH,      /* one past the last */
    SMALLEST,  /* ~ of the average piece */
    FIRST,     /* ~ of the first rank that has any */
    FINAL,     /* and the last */
    AT_ONCE,   /* owners on a node */
    SHARE,     /* ~ of the bytes that one should have */
    LAST_ID,   /* of any plan */
    OLDEST,    /* id of a plan kept that serves this rank, */
    NEWEST,    /* ~ of the last such id; any between them does */
    SHIFT,     /* against it */
    SHIFT_NOT, /* ~ of it */
    NOT_AHEAD, /* a rank has not filled the first buffers */
    WORDS
};

_Static_assert((int)MOST < (int)BRIO_ACCORD_HEAD, "what the head tells");
_Static_assert((int)WORDS <= (int)BRIO_MEET_WORDS, "more than one meeting holds");

int brio_accord_say(int64_t *w, const struct brio_say *say)
{
    const struct brio_io *io = say->io;
    const struct brio_team *team = say->env->team;
    w[WORST] = brio_verdict_vote(team, say->mine);
    w[MOST] = 0;
    w[LAST_ID] = say->last_id;
    w[AT_ONCE] = brio_worth_at_once(say->env);
    w[SHARE] = ~brio_worth_share(say->env, io->dir);
    w[LOW] = w[HIGH] = w[SMALLEST] = w[SHIFT] = w[SHIFT_NOT] = INT64_MIN;
    w[FIRST] = w[FINAL] = INT64_MIN;
    w[OLDEST] = say->found ? say->oldest : 0;
    w[NEWEST] = say->found ? ~say->found->id : ~0;
    w[NOT_AHEAD] = true;
    if (io->bytes == 0)
        return WORDS;
    brio_off lo, hi;
    brio_map_bounds(io->file, io->pos, io->bytes, &lo, &hi);
    w[LOW] = ~(lo + io->base);
    w[HIGH] = hi + io->base;
    w[MOST] = io->bytes;
    w[FIRST] = ~team->rank;
    w[FINAL] = team->rank;
    w[SMALLEST] = ~brio_worth_piece(io);
    if (say->found) {
        w[SHIFT] = brio_shelf_shift(io, say->found);
        w[SHIFT_NOT] = ~w[SHIFT];
    }
    return WORDS;
}

void brio_accord_ahead(int64_t *w, bool ahead)
{
    w[NOT_AHEAD] = !ahead;
}

/* One plan serves all if some id is in what each has said, and all are shifted alike; a rank
 * without bytes is shifted as the others are. */
static int64_t plan_of(const int64_t *w)
{
    bool alike = w[SHIFT] == INT64_MIN || w[SHIFT] == ~w[SHIFT_NOT];
    return alike && w[OLDEST] > 0 && w[OLDEST] <= ~w[NEWEST] ? ~w[NEWEST] : 0;
}

bool brio_accord_none(const int64_t *w)
{
    return w[MOST] == 0;
}

struct brio_accord brio_accord_read(const int64_t *w, enum brio_dir dir)
{
    if (brio_accord_none(w))
        return (struct brio_accord){.worst = w[WORST], .none = true};
    int nsources = (int)(w[FINAL] - ~w[FIRST]) + 1;
    return (struct brio_accord){
        .worst = w[WORST],
        .lo = ~w[LOW],
        .hi = w[HIGH],
        .all = {.dir = dir,
                .piece = ~w[SMALLEST],
                .most = w[MOST],
                .volume = w[MOST] * nsources,
                .span = w[HIGH] - ~w[LOW]},
        .nsources = nsources,
        .at_once = (int)w[AT_ONCE],
        .share = ~w[SHARE],
        .last_id = w[LAST_ID],
        .plan = plan_of(w),
        .shift = w[SHIFT] == INT64_MIN ? 0 : w[SHIFT],
        .ahead = !w[NOT_AHEAD],
    };
}
