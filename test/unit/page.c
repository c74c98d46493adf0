/* Pages of other processes: what is found under a name of /proc may be anything. */
#include "comm/page.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* A page as a process with this pid, in a container of its own, would name it. */
static struct brio_page_ref named(int fd)
{
    return (struct brio_page_ref){.pid = getpid(), .nonce = 1234567, .fd = fd, .slot = 1};
}

static void refuses_what_is_no_page(void)
{
    static const struct {
        const char *what;
        off_t size;
    } files[] = {{"an empty file", 0}, {"a short file", 4096}, {"a long file", 1 << 20}};
    struct brio_page_slot *slot;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        FILE *file = tmpfile();
        REQUIRE(file && ftruncate(fileno(file), files[i].size) == 0, "no file");
        struct brio_page_ref ref = named(fileno(file));
        CHECK(brio_page_attach(&ref, &slot) != BRIO_OK, "%s", files[i].what);
        fclose(file);
    }
    int ends[2];
    REQUIRE(pipe(ends) == 0, "no pipe");
    struct brio_page_ref ref = named(ends[0]);
    CHECK(brio_page_attach(&ref, &slot) != BRIO_OK, "a pipe");
    close(ends[0]);
    close(ends[1]);
}

/* In the child the page is another process's, as for any rank. */
static void finds_a_page_by_its_number(void)
{
    struct brio_page_ref ref, other;
    struct brio_page_slot *slot, *seen;
    REQUIRE(brio_page_take(&ref, &slot) == BRIO_OK, "%s", brio_err_text());
    other = ref;
    other.nonce++;
    CHECK(brio_page_attach(&other, &seen) != BRIO_OK, "another number");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct brio_page_ref own;
        struct brio_page_slot *mine;
        bool good = brio_page_take(&own, &mine) == BRIO_OK && own.pid == getpid() &&
                    brio_page_attach(&ref, &seen) == BRIO_OK && seen != mine;
        if (good)
            atomic_store(&seen->value, 77);
        _exit(!good);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0, "the child says %d", status);
    CHECK(atomic_load(&slot->value) == 77, "the value is %lld",
          (long long)atomic_load(&slot->value));
    brio_page_give(&ref);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        TEST(refuses_what_is_no_page), TEST(finds_a_page_by_its_number), {0}};
    return test_main(argc, argv, cases);
}
