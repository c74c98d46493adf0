/* The file of tuned settings (mod/rules.h is its form): where the user's is, and how a part
 * of it is replaced. */
#ifndef BRIO_CLI_PROFILE_H
#define BRIO_CLI_PROFILE_H

#include <stdbool.h>

/* BRIO_PROFILE, or the user's; NULL if there is no place for one. To be freed. */
char *brio_profile_path(void);

/* What brio tune writes. */
struct brio_profile_part {
    const char *head;     /* "[program=a.out]" */
    const char *note;     /* a few words for people, on one line */
    const char *settings; /* lines */
};

/* The text with what brio tune wrote before for this head taken out and the part at its end;
 * other parts, and all that people wrote, stay. Pure; to be freed. */
char *brio_profile_put(const char *text, const struct brio_profile_part *part);

/* The same for a file, which is replaced as a whole or not at all, and made if need be, with
 * its directory. False: errno says why. */
bool brio_profile_save(const char *path, const struct brio_profile_part *part);

#endif
