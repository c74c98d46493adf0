/* Mounts, and what is kept about them. */
#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/calibration.h"

static char dir[] = "calibration-XXXXXX";

static const char *name(const char *what)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, what);
    return path;
}

static void finds_mounts(void)
{
    struct brio_mount root, here, there;
    REQUIRE(brio_mount_of("/", &root), "no root");
    CHECK(strcmp(root.point, "/") == 0, "the root is at %s", root.point);
    REQUIRE(brio_mount_of(".", &here), "nothing is mounted here");
    CHECK(brio_mount_of("no-such-file", &there) && strcmp(there.key, here.key) == 0,
          "a file that is not there is on %s", there.key);
    CHECK(!brio_mount_of("/no/such/directory/file", &there), "nowhere is on %s", there.key);
    if (brio_mount_of("/proc/self", &there))
        CHECK(strcmp(there.point, "/proc") == 0 && strncmp(there.key, "proc ", 5) == 0, "%s",
              there.key);
}

static void keeps_one_of_each(void)
{
    const struct brio_mount a = {.key = "ext4 /dev/a /a"}, b = {.key = "nfs x:/b /a\\040b"};
    struct brio_calibration c;
    char file[200];
    snprintf(file, sizeof file, "%s", name("some/where/calibration"));
    CHECK(!brio_calibration_read(file, &a, &c), "something is there");
    for (int i = 1; i <= 3; i++) {
        CHECK(!brio_calibration_write(
                  file, &a,
                  &(struct brio_calibration){.k_write = i, .k_read = 2 * i, .when = 100}),
              "%s", brio_err_text());
        CHECK(!brio_calibration_write(
                  file, &b,
                  &(struct brio_calibration){
                      .k_write = 10 * i, .when = 100, .ring_cold = 100 + i, .ring_warm = 99}),
              "%s", brio_err_text());
    }
    CHECK(brio_calibration_read(file, &a, &c) && c.k_write == 3 && c.k_read == 6, "%lld",
          (long long)c.k_write);
    CHECK(brio_calibration_read(file, &b, &c) && c.k_write == 30 && c.k_read == 0, "%lld",
          (long long)c.k_write);
    CHECK(c.ring_cold == 103 && c.ring_warm == 99, "rings %d/%d", c.ring_cold, c.ring_warm);
    char text[500] = "";
    int fd = open(file, O_RDONLY), lines = 0;
    CHECK(read(fd, text, sizeof text - 1) > 0, "empty");
    close(fd);
    for (const char *s = text; *s; s++)
        lines += *s == '\n';
    CHECK(lines == 2, "%d lines", lines);
}

/* A damaged line is passed over. */
static void stands_nonsense(void)
{
    const struct brio_mount a = {.key = "ext4 /dev/a /a"};
    struct brio_calibration c;
    FILE *out = fopen(name("bad"), "w");
    fputs("nonsense\n-5 1 1 ext4 /dev/a /a\n\n1 2\n1 1 1 ring=x ext4 /dev/a /a\n"
          "4096 8192 1 ext4 /dev/a /a\n",
          out);
    fclose(out);
    CHECK(brio_calibration_read(name("bad"), &a, &c) && c.k_write == 4096 && c.k_read == 8192,
          "%lld", (long long)c.k_write);
}

/* What is kept on the mount that we are on is found at an open; asked once per process, so
 * this comes last. */
static void is_found_at_open(void)
{
    struct brio_mount here;
    struct brio_facts facts = {.k_write = 1};
    char real[4096], state[4200], file[4300];
    REQUIRE(brio_mount_of(".", &here) && realpath(dir, real), "nothing is mounted here");
    snprintf(state, sizeof state, "%s/state", real);
    setenv("XDG_STATE_HOME", state, 1);
    REQUIRE(brio_calibration_file(false, file, sizeof file), "no name");
    REQUIRE(!brio_calibration_write(file, &here,
                                    &(struct brio_calibration){.k_write = 65536,
                                                               .k_read = 32768,
                                                               .when = 1,
                                                               .ring_cold = 140,
                                                               .ring_warm = 98}),
            "%s", brio_err_text());
    brio_calibration_lookup("some-file", &facts);
    CHECK(facts.k_write == 65536 && facts.k_read == 32768, "%lld", (long long)facts.k_write);
    CHECK(facts.ring_cold == 140 && facts.ring_warm == 98, "rings %d/%d", facts.ring_cold,
          facts.ring_warm);
    unlink(file);
    brio_calibration_lookup("some-file", &facts);
    CHECK(facts.k_write == 65536, "it was not remembered");
    brio_calibration_lookup("/no/such/directory/file", &facts);
    CHECK(facts.k_write == 0, "%lld for a file that is nowhere", (long long)facts.k_write);
}

static const struct test_case cases[] = {TEST(finds_mounts),
                                         TEST(keeps_one_of_each),
                                         TEST(stands_nonsense),
                                         TEST(is_found_at_open),
                                         {0}};

int main(int argc, char **argv)
{
    if (!mkdtemp(dir))
        return 1;
    int failed = test_main(argc, argv, cases);
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) || failed;
}
