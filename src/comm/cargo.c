/* Pieces one after the other, each probed for before it is received, as its size is not known.
 */
#include "comm/cargo.h"

#include <stdlib.h>

#include "base/mem.h"
#include "comm/real.h"

static void fail(struct brio_cargo *c, enum brio_err err)
{
    if (!c->err)
        c->err = err;
}

static void send_piece(struct brio_cargo *c)
{
    size_t n = c->out_bytes - c->sent < c->piece ? c->out_bytes - c->sent : c->piece;
    c->last = n < c->piece;
    if (PMPI_Isend(c->out + c->sent, (int)n, MPI_BYTE, c->to, c->tag, c->comm, &c->sending))
        fail(c, brio_fail(BRIO_EINTERN, "MPI_Isend to rank %d failed", c->to));
    c->sent += n;
}

/* What has been matched must be received: without memory, every byte in the same place. */
static void receive_nowhere(struct brio_cargo *c)
{
    MPI_Datatype all;
    PMPI_Type_create_hvector(c->coming, 1, 0, MPI_BYTE, &all);
    PMPI_Type_commit(&all);
    PMPI_Imrecv(&c->nowhere, 1, all, &c->message, &c->receiving);
    PMPI_Type_free(&all);
}

static void receive_piece(struct brio_cargo *c)
{
    char *more = NULL;
    if (!c->err) {
        more = realloc(c->in, c->in_bytes + (size_t)c->coming + 1);
        if (!more)
            fail(c, brio_fail(BRIO_ENOMEM, "no memory for a message of %zu bytes",
                              c->in_bytes + (size_t)c->coming));
    }
    if (!more) {
        free(c->in);
        c->in = NULL;
        receive_nowhere(c);
        return;
    }
    c->in = more;
    PMPI_Imrecv(c->in + c->in_bytes, c->coming, MPI_BYTE, &c->message, &c->receiving);
}

/* The next piece, if it is there. */
static bool find_piece(struct brio_cargo *c)
{
    MPI_Status status;
    int flag = 0;
    PMPI_Improbe(c->from, c->tag, c->comm, &flag, &c->message, &status);
    if (flag)
        PMPI_Get_count(&status, MPI_BYTE, &c->coming);
    return flag;
}

static bool has_sent(struct brio_cargo *c)
{
    while (c->sending == MPI_REQUEST_NULL || brio_real_test(&c->sending)) {
        if (c->last)
            return true;
        send_piece(c);
    }
    return false;
}

static bool has_received(struct brio_cargo *c)
{
    while (!c->ended) {
        if (c->receiving == MPI_REQUEST_NULL) {
            if (!find_piece(c))
                return false;
            receive_piece(c);
        }
        if (c->receiving != MPI_REQUEST_NULL && !brio_real_test(&c->receiving))
            return false;
        c->in_bytes += (size_t)c->coming;
        c->ended = (size_t)c->coming < c->piece;
    }
    return true;
}

void brio_cargo_start(struct brio_cargo *c)
{
    c->in = NULL;
    c->in_bytes = c->sent = 0;
    c->last = c->ended = false;
    c->err = BRIO_OK;
    c->sending = c->receiving = MPI_REQUEST_NULL;
    send_piece(c);
}

bool brio_cargo_step(struct brio_cargo *c)
{
    bool received = has_received(c);
    return has_sent(c) && received;
}
