/* Parcels, and who owns which page. */
#include "cache/owner.h"
#include "cache/parcel.h"
#include "check.h"

enum {
    ROOM = 200,
    SPACE = 500
};

/* What comes out of a parcel, applied in order, is what went in. */
static void comes_out_as_it_went_in(void)
{
    uint64_t seed = test_seed();
    for (int round = 0; round < 3000 && !test_failed; round++) {
        char room[ROOM], put[SPACE] = {0}, got[SPACE] = {0};
        struct brio_parcel parcel;
        struct brio_piece piece;
        brio_off off = 0, len = 0, fit;
        brio_parcel_init(&parcel, room, ROOM);
        for (;;) {
            off = test_below(2) ? off + len : test_below(SPACE - 60);
            off = off < SPACE - 60 ? off : 0;
            len = 1 + test_below(50);
            char *to = brio_parcel_add(&parcel, off, len, &fit);
            if (!to)
                break;
            CHECK(fit >= 1 && fit <= len, "%lld of %lld fit", (long long)fit, (long long)len);
            for (brio_off i = 0; i < fit; i++)
                put[off + i] = to[i] = (char)test_random();
            len = fit;
        }
        CHECK(parcel.used <= ROOM && ROOM - parcel.used <= 16, "%zu of %d used", parcel.used,
              ROOM);
        size_t at = 0;
        while (brio_parcel_next(room, parcel.used, &at, &piece))
            memcpy(got + piece.off, piece.data, (size_t)piece.len);
        CHECK(at == parcel.used, "ends at %zu of %zu", at, parcel.used);
        CHECK(memcmp(put, got, SPACE) == 0, "other bytes");
    }
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

static void joins_what_goes_on(void)
{
    char room[ROOM];
    struct brio_parcel parcel;
    struct brio_piece piece;
    brio_off fit;
    size_t at = 0;
    brio_parcel_init(&parcel, room, ROOM);
    for (brio_off off = 1000; off < 1100; off += 10)
        memset(brio_parcel_add(&parcel, off, 10, &fit), 7, 10);
    CHECK(brio_parcel_next(room, parcel.used, &at, &piece), "empty");
    CHECK(piece.off == 1000 && piece.len == 100, "%lld bytes", (long long)piece.len);
    CHECK(!brio_parcel_next(room, parcel.used, &at, &piece), "a second piece");
}

static void notices_what_is_cut(void)
{
    char room[ROOM];
    struct brio_parcel parcel;
    struct brio_piece piece;
    brio_off fit;
    brio_parcel_init(&parcel, room, ROOM);
    memset(brio_parcel_add(&parcel, 5, 50, &fit), 1, 50);
    for (size_t cut = 1; cut < parcel.used; cut++) {
        size_t at = 0;
        CHECK(!brio_parcel_next(room, cut, &at, &piece) && at == 0, "cut at %zu", cut);
    }
}

/* Every page has one owner among the ranks; a rank has to do with few servers. */
static void owners(void)
{
    enum {
        MANY = 40
    };
    for (int nranks = 1; nranks <= MANY; nranks++) {
        for (int nservers = 1; nservers <= MANY; nservers++) {
            bool meets[MANY][MANY] = {{false}};
            int most = 0, owning = 0;
            for (brio_off page = 0; page < 2000; page++) {
                int owner = brio_page_owner(page, nranks, nservers);
                if (owner < 0 || owner >= nranks) {
                    CHECK(0, "page %lld of %d ranks: %d", (long long)page, nranks, owner);
                    return;
                }
                meets[owner][page % nservers] = true;
            }
            for (int r = 0; r < nranks; r++) {
                int n = 0;
                for (int s = 0; s < nservers; s++)
                    n += meets[r][s];
                most = n > most ? n : most;
                owning += n > 0;
            }
            CHECK(most <= (nservers + nranks - 1) / nranks, "%d ranks, %d servers: %d", nranks,
                  nservers, most);
            CHECK(2 * owning > nranks || owning == nservers, "%d of %d ranks own, %d servers",
                  owning, nranks, nservers);
        }
    }
}

static void page_sizes(void)
{
    const brio_off wish = 1 << 20;
    CHECK(brio_page_size(0, 4096, wish) == wish, "ext4");
    CHECK(brio_page_size(0, 0, wish) == wish, "no block");
    CHECK(brio_page_size(0, 3 << 20, wish) == 3 << 20, "large blocks");
    CHECK(brio_page_size(1 << 20, 4096, wish) == 1 << 20, "a stripe");
    CHECK(brio_page_size(65536, 4096, wish) == 262144, "small stripes");
    CHECK(brio_page_size(64 << 20, 4096, wish) == 4 << 20, "a large stripe");
    for (brio_off stripe = 4096; stripe < (8 << 20); stripe += 4096) {
        brio_off size = brio_page_size(stripe, 4096, wish);
        CHECK(size % stripe == 0 || stripe % size == 0, "stripe %lld: %lld", (long long)stripe,
              (long long)size);
    }
}

static const struct test_case cases[] = {TEST(comes_out_as_it_went_in),
                                         TEST(joins_what_goes_on),
                                         TEST(notices_what_is_cut),
                                         TEST(owners),
                                         TEST(page_sizes),
                                         {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
