/* Choices in words: what is known of a file, what every module answered, which were chosen,
 * and what became of the first collective access of each view. Told on rank 0 where
 * BRIO_EXPLAIN is set or the `brio explain` command runs, and each text once. The words come
 * from where the choices are made; nothing is decided here. */
#ifndef BRIO_CORE_EXPLAIN_H
#define BRIO_CORE_EXPLAIN_H

#include <stdio.h>

#include "core/file.h"

/* Files are opened without being touched: what is there is opened for reading only, what is
 * not there is not made, and no byte is moved. For `brio explain`. */
bool brio_explain_dry(void);

/* At the beginning of an open; f->story is NULL afterwards if nothing is to be told. */
void brio_explain_begin(struct brio_file *f);

/* A framework has just been chosen for; and a module has turned out not to serve. */
void brio_explain_choice(struct brio_file *f, enum brio_framework framework);
void brio_explain_failed(struct brio_file *f, enum brio_framework framework);

/* All is chosen once more: what was said of the first time is forgotten. */
void brio_explain_again(struct brio_file *f);

/* What is known is complete: the file is open, or a view is set. */
void brio_explain_opened(struct brio_file *f, const struct brio_layout *layout);
void brio_explain_view(struct brio_file *f);

/* After each collective access; the first one of a view is told. */
void brio_explain_access(struct brio_file *f, enum brio_dir dir, struct brio_result result);

/* Before the modules close: what the cache has come to do meanwhile. */
void brio_explain_closing(struct brio_file *f);

void brio_explain_end(struct brio_file *f);

/* "64 KiB": a size in the largest unit that holds it in whole numbers. */
void brio_explain_size(FILE *out, brio_off bytes);

/* The ranks that accessed the file for others last time, "0 4 8"; "" if none did. */
void brio_explain_owners(const struct brio_file *f, char *out, size_t size);

#endif
