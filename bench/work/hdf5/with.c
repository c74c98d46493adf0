/* FLASH I/O's checkpoint through parallel HDF5: a dataset for each variable. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

#include "work/flash.h"

const bool flash_has_hdf5 = true;

static void need(hid_t id, const char *what)
{
    if (id < 0)
        fail(what);
}

static void name_of(int variable, char *out, size_t size)
{
    snprintf(out, size, "unk%02d", variable);
}

static void make_datasets(const struct flash *f, hid_t file)
{
    hsize_t side = (hsize_t)f->side, dims[4] = {(hsize_t)f->all, side, side, side};
    hid_t space = H5Screate_simple(4, dims, NULL);
    for (int i = 0; i < f->variables; i++) {
        char name[16];
        name_of(i, name, sizeof name);
        hid_t set = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
                               H5P_DEFAULT);
        need(set, "H5Dcreate2 failed");
        H5Dclose(set);
    }
    H5Sclose(space);
}

void flash_hdf5_open(struct job *job)
{
    struct flash *f = job->more;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    need(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, job->info), "H5Pset_fapl_mpio failed");
    hid_t file = job->amode & MPI_MODE_RDONLY
                     ? H5Fopen(job->path, H5F_ACC_RDONLY, access)
                     : H5Fcreate(job->path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    need(file, "HDF5 could not open the file");
    H5Pclose(access);
    if (!(job->amode & MPI_MODE_RDONLY))
        make_datasets(f, file);
    f->file = need_memory(sizeof file);
    *(hid_t *)f->file = file;
}

void flash_hdf5_close(struct job *job)
{
    struct flash *f = job->more;
    need(H5Fclose(*(hid_t *)f->file), "H5Fclose failed");
    free(f->file);
    f->file = NULL;
}

/* A rank's blocks of one variable. */
static void move_blocks(const struct job *job, hid_t file, int variable, hid_t how, int write)
{
    const struct flash *f = job->more;
    hsize_t side = (hsize_t)f->side, start[4] = {(hsize_t)f->before, 0, 0, 0};
    hsize_t count[4] = {(hsize_t)f->blocks, side, side, side};
    char name[16];
    name_of(variable, name, sizeof name);
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    need(set, "H5Dopen2 failed");
    hid_t space = H5Dget_space(set), memory = H5Screate_simple(4, count, NULL);
    need(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL), "hyperslab");
    need(write ? H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, how, job->buf)
               : H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, how, job->buf),
         write ? "H5Dwrite failed" : "H5Dread failed");
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(set);
}

void flash_hdf5_move(struct job *job, int call, int write)
{
    struct flash *f = job->more;
    hid_t how = H5Pcreate(H5P_DATASET_XFER);
    need(H5Pset_dxpl_mpio(how, job->access == ACCESS_COLLECTIVE ? H5FD_MPIO_COLLECTIVE
                                                                : H5FD_MPIO_INDEPENDENT),
         "H5Pset_dxpl_mpio failed");
    move_blocks(job, *(hid_t *)f->file, call, how, write);
    H5Pclose(how);
}

long long flash_hdf5_verify(struct job *job)
{
    struct flash *f = job->more;
    long long bad = 0;
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
    hid_t file = H5Fopen(job->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    need(file, "HDF5 could not open the file again");
    for (int i = 0; i < f->variables; i++) {
        move_blocks(job, file, i, H5P_DEFAULT, 0);
        bad += runs_check(job, i);
    }
    H5Fclose(file);
    return bad;
}
