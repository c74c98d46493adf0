/* Parts of an array as boxes: how they are cut, where their rows lie, and as a datatype. */
#include <string.h>

#include "bench.h"

int side_cut(int i, int n, int side, bool uneven)
{
    return uneven ? (int)((long long)side * i * (i + 1) / ((long long)n * (n + 1)))
                  : (int)((long long)side * i / n);
}

void boxes_done(struct boxes *b)
{
    b->rows[0] = 0;
    for (int i = 0; i < b->n; i++)
        b->rows[i + 1] = b->rows[i] + (long long)b->box[i].len[0] * b->box[i].len[1];
}

void boxes_tile(struct boxes *b, int height, int width, int elem, bool uneven)
{
    int grid[2] = {0, 0};
    MPI_Dims_create(nranks, 2, grid);
    int y = rank / grid[1], x = rank % grid[1];
    memset(b, 0, sizeof *b);
    b->dim[0] = 1;
    b->dim[1] = height;
    b->dim[2] = width;
    b->elem = elem;
    int y0 = side_cut(y, grid[0], height, uneven),
        y1 = side_cut(y + 1, grid[0], height, uneven);
    int x0 = side_cut(x, grid[1], width, uneven), x1 = side_cut(x + 1, grid[1], width, uneven);
    if (y0 < y1 && x0 < x1)
        b->box[b->n++] = (struct box){{0, y0, x0}, {1, y1 - y0, x1 - x0}};
    boxes_done(b);
}

static int square_root(int n)
{
    int q = 1;
    while ((q + 1) * (q + 1) <= n)
        q++;
    return q;
}

void boxes_bt(struct boxes *b, int side, bool uneven)
{
    int q = square_root(nranks);
    memset(b, 0, sizeof *b);
    b->dim[0] = b->dim[1] = b->dim[2] = side;
    b->elem = 40;
    for (int c = 0; c < q && rank < q * q; c++) {
        int at[3] = {c, ((rank / q - c) % q + q) % q, (rank % q + c) % q};
        struct box x;
        for (int d = 0; d < 3; d++) {
            x.lo[d] = side_cut(at[d], q, side, uneven);
            x.len[d] = side_cut(at[d] + 1, q, side, uneven) - x.lo[d];
        }
        if (x.len[0] && x.len[1] && x.len[2] && b->n < BOXES_MAX)
            b->box[b->n++] = x;
    }
    boxes_done(b);
}

long long boxes_elements(const struct boxes *b)
{
    long long n = 0;
    for (int i = 0; i < b->n; i++)
        n += (long long)b->box[i].len[0] * b->box[i].len[1] * b->box[i].len[2];
    return n;
}

long long boxes_extent(const struct boxes *b)
{
    return (long long)b->dim[0] * b->dim[1] * b->dim[2] * b->elem;
}

long long boxes_row(const struct boxes *b, long long i, long long *len)
{
    int k = 0;
    while (i >= b->rows[k + 1])
        k++;
    const struct box *x = &b->box[k];
    int j = (int)(i - b->rows[k]);
    long long row =
        (long long)(x->lo[0] + j / x->len[1]) * b->dim[1] + x->lo[1] + j % x->len[1];
    *len = (long long)x->len[2] * b->elem;
    return (row * b->dim[2] + x->lo[2]) * b->elem;
}

MPI_Datatype element_type(int bytes)
{
    MPI_Datatype type;
    must(MPI_Type_contiguous(bytes, MPI_BYTE, &type), "the element's type");
    must(MPI_Type_commit(&type), "the element's type");
    return type;
}

MPI_Datatype boxes_type(const struct boxes *b)
{
    MPI_Datatype elem = element_type(b->elem), part[BOXES_MAX], all;
    MPI_Aint at[BOXES_MAX] = {0};
    int len[BOXES_MAX];
    if (b->n == 0)
        return elem;
    for (int i = 0; i < b->n; i++) {
        len[i] = 1;
        must(MPI_Type_create_subarray(3, b->dim, b->box[i].len, b->box[i].lo, MPI_ORDER_C, elem,
                                      &part[i]),
             "the subarray type");
    }
    all = part[0];
    if (b->n > 1) {
        must(MPI_Type_create_struct(b->n, len, at, part, &all), "the struct type");
        for (int i = 0; i < b->n; i++)
            MPI_Type_free(&part[i]);
    }
    MPI_Type_free(&elem);
    must(MPI_Type_commit(&all), "the filetype");
    return all;
}
