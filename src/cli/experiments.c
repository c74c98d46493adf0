/* The table of the papers' experiments. */
#include <string.h>

#include "cli/experiments.h"

/* Sharedfp modules of the thesis, and what Brio chooses. */
#define SHARED_WHO                                                                             \
    "--variant brio: --variant sm:sharedfp=sm --variant lockedfile:sharedfp=lockedfile "       \
    "--variant addproc:sharedfp=addproc --variant individual:sharedfp=individual "             \
    "--against romio,ompio --only write --fresh "

/* Stands for the papers' parallel file systems: what a call costs there. Mapped writes would
 * not be slowed down, and are left out. */
#define SLOW "--slow 100 --set ds_write=disable "

static const char series_1_found[] =
    "8 ranks, 2 MB a loop, growing files. Without collectives sm is steady and the fastest, "
    "addproc a little below it; individual is slower even before its merge and far slower "
    "after it. On ext4 all but individual are alike; sm and ROMIO are the steadiest.";
static const char series_1_ordered[] =
    "Ordered writes: sm, individual and addproc are alike, individual no longer needs to "
    "merge; "
    "all are slower than write_shared on PVFS2, since 2 MB a loop makes the collective use one "
    "aggregator. On ext4 ROMIO is somewhat below the thesis's modules.";

const struct brio_experiment brio_experiments[] = {
    {.id = "000.1",
     .title =
         "Test series 1, write_shared: output size (table 5.1, figures 5.1, 5.2, 5.4, 5.6)",
     .found = series_1_found,
     .sizes = "8 ranks, 2 MB a loop, 40000 to 128000 MB",
     .bytes = 128e9,
     .words = "sharedfp --bytes 2m --mode 1 " SHARED_WHO,
     .quick = "-n 4 --loops 8,16 --reps 3",
     .full = "-n 8 --loops 20,32,64 --reps 3",
     .xlabel = "loops of 2 MB",
     .seconds = {11, 26},
     .claim = {{"sm is not slower than addproc", "sm", BRIO_NOT_SLOWER, "addproc"},
               {"sm is faster than individual after its merge", "sm", BRIO_FASTER,
                "individual"},
               {"sm is not slower than lockedfile", "sm", BRIO_NOT_SLOWER, "lockedfile"}}},
    {.id = "000.1o",
     .title = "Test series 1, write_ordered: output size (figures 5.3, 5.5, 5.7)",
     .found = series_1_ordered,
     .sizes = "8 ranks, 2 MB a loop, 40000 to 128000 MB",
     .bytes = 128e9,
     .words = "sharedfp --bytes 2m --mode 2 " SHARED_WHO,
     .quick = "-n 4 --loops 8,16 --reps 3",
     .full = "-n 8 --loops 20,32,64 --reps 3",
     .xlabel = "loops of 2 MB",
     .seconds = {11, 26},
     .claim = {{"sm and individual are alike", "sm", BRIO_ALIKE, "individual"},
               {"addproc is not faster than sm", "sm", BRIO_NOT_SLOWER, "addproc"},
               {"ROMIO is slower than sm", "sm", BRIO_FASTER, "romio"}}},
    {.id = "000.2",
     .title =
         "Test series 2, write_shared: number of ranks (table 5.2, figures 5.8, 5.10, 5.12)",
     .found =
         "2 MB a loop whatever the number of ranks. sm and addproc grow from 2 to 16 ranks; "
         "at 32 sm levels off and addproc falls; individual after its merge falls steadily. "
         "On ext4 all but individual are steady and alike.",
     .sizes = "2 to 32 ranks, 2 MB a loop, 65 GB",
     .bytes = 65536e6,
     .words = "sharedfp --bytes 2m --mode 1 " SHARED_WHO,
     .quick = "-n 2,4 --loops 12 --reps 3",
     .full = "-n 2,4,8,16 --loops 32 --reps 3",
     .axis = BRIO_BY_RANKS,
     .xlabel = "ranks",
     .seconds = {14, 45},
     .claim = {{"sm is not slower than addproc", "sm", BRIO_NOT_SLOWER, "addproc"},
               {"sm is faster than individual after its merge", "sm", BRIO_FASTER,
                "individual"},
               {"sm and lockedfile are alike on ext4", "sm", BRIO_ALIKE, "lockedfile"}}},
    {.id = "000.2o",
     .title = "Test series 2, write_ordered: number of ranks (figures 5.9, 5.11, 5.13)",
     .found = "All modules fall as ranks are added; individual is comparable to sm; ROMIO is "
              "below them on ext4.",
     .sizes = "2 to 32 ranks, 2 MB a loop, 65 GB",
     .bytes = 65536e6,
     .words = "sharedfp --bytes 2m --mode 2 " SHARED_WHO,
     .quick = "-n 2,4 --loops 12 --reps 3",
     .full = "-n 2,4,8,16 --loops 32 --reps 3",
     .axis = BRIO_BY_RANKS,
     .xlabel = "ranks",
     .seconds = {14, 45},
     .claim = {{"sm and individual are alike", "sm", BRIO_ALIKE, "individual"},
               {"ROMIO is slower than sm", "sm", BRIO_FASTER, "romio"}}},
    {.id = "000.3",
     .title = "Test series 3, write_shared: number of requests (table 5.3, figures 5.14, 5.15, "
              "5.17, 5.19)",
     .found = "The same 65 GB in more and smaller loops: all fall after 8192 loops; individual "
              "after its merge from 300 MB/s at 4096 loops to 50 at 32768. On ext4 lockedfile "
              "falls below sm as requests become many.",
     .sizes = "8 ranks, 65 GB in 32 to 65536 loops",
     .bytes = 65536e6,
     .words = "sharedfp --total 32m --mode 1 " SHARED_WHO,
     .quick = "-n 4 --loops 32,512,4096 --reps 3",
     .full = "-n 8 --loops 32,128,512,2048,8192 --reps 3",
     .xlabel = "loops for 32 MB",
     .seconds = {14, 50},
     .claim = {{"sm is faster than lockedfile when requests are many", "sm", BRIO_FASTER,
                "lockedfile"},
               {"sm falls as requests become many and small", "sm", BRIO_CHANGES, NULL},
               {"individual is slower than sm", "sm", BRIO_FASTER, "individual"}}},
    {.id = "000.3o",
     .title = "Test series 3, write_ordered: number of requests (figures 5.16, 5.18, 5.20)",
     .found =
         "All fall as loops become smaller, most between 1024 and 2048 loops, where the "
         "collective goes down to one aggregator; sm a little above lockedfile; individual "
         "best when loops are few.",
     .sizes = "8 ranks, 65 GB in 32 to 65536 loops",
     .bytes = 65536e6,
     .words = "sharedfp --total 32m --mode 2 " SHARED_WHO,
     .quick = "-n 4 --loops 32,512,4096 --reps 3",
     .full = "-n 8 --loops 32,128,512,2048,8192 --reps 3",
     .xlabel = "loops for 32 MB",
     .seconds = {16, 70},
     .claim = {{"sm is not slower than lockedfile", "sm", BRIO_NOT_SLOWER, "lockedfile"},
               {"sm falls as requests become many and small", "sm", BRIO_CHANGES, NULL}}},
    {.id = "000.4",
     .title = "Test series 4, write_shared: 2 MB a rank and loop (table 5.4, figures 5.21, "
              "5.23, 5.25)",
     .found = "sm is the fastest, then addproc, then individual before its merge; after the "
              "merge it is far slower, but better than in series 2.",
     .sizes = "2 to 32 ranks, 2 MB a rank and loop, 65 GB",
     .bytes = 65536e6,
     .words = "sharedfp --bytes 2m --per-rank --mode 1 " SHARED_WHO,
     .quick = "-n 2,4 --total 32m --reps 3",
     .full = "-n 2,4,8,16 --total 128m --reps 3",
     .axis = BRIO_BY_RANKS,
     .xlabel = "ranks",
     .seconds = {14, 50},
     .claim = {{"sm is not slower than addproc", "sm", BRIO_NOT_SLOWER, "addproc"},
               {"sm is faster than individual after its merge", "sm", BRIO_FASTER,
                "individual"}}},
    {.id = "000.4o",
     .title = "Test series 4, write_ordered: 2 MB a rank and loop (figures 5.22, 5.24, 5.26)",
     .found = "Steady up to 16 ranks, then from 350 to 500 MB/s at 32, where the collective "
              "takes a second aggregator. On ext4 all are alike but ROMIO, which is lower.",
     .sizes = "2 to 32 ranks, 2 MB a rank and loop, 65 GB",
     .bytes = 65536e6,
     .words = "sharedfp --bytes 2m --per-rank --mode 2 " SHARED_WHO,
     .quick = "-n 2,4 --total 32m --reps 3",
     .full = "-n 2,4,8,16 --total 128m --reps 3",
     .axis = BRIO_BY_RANKS,
     .xlabel = "ranks",
     .seconds = {14, 50},
     .claim = {{"sm and individual are alike", "sm", BRIO_ALIKE, "individual"},
               {"ROMIO is slower than sm", "sm", BRIO_FASTER, "romio"}}},
    {.id = "001.t1",
     .title = "BTIO's write requests, collective and independent (table 1)",
     .found = "A collective write makes 40 large requests a rank, an independent one 105000 to "
              "262440 of 405 to 1620 bytes; natively below 5 MB/s.",
     .sizes = "class C, 16 to 100 ranks, 6.34 GB",
     .bytes = 6.8e9,
     .words = "btio --only write --fresh --variant coll:--access=coll "
              "--variant indep:--access=indep --variant simple:--access=pieces --against romio",
     .quick = "-n 4 --class W --steps 10 --reps 3",
     .full = "-n 4,9,16 --class A --steps 10 --reps 3",
     .axis = BRIO_BY_RANKS,
     .xlabel = "ranks",
     .seconds = {6, 30},
     .claim = {{"collective writes make fewer requests", "coll", BRIO_FEWER_CALLS, "simple"},
               {"collective writes are faster", "coll", BRIO_FASTER, "simple"}}},
    {.id = "001.4",
     .title = "BTIO with caching and write-behind (figure 4; each call takes 100 us longer)",
     .found =
         "Caching and two-stage write-behind both beat the native collective on Lustre and "
         "GPFS, by aligned requests and fewer lock conflicts; on Lustre write-behind is the "
         "better of the two. Natively independent: below 5 MB/s.",
     .sizes = "class C, 16 to 100 ranks, 6.34 GB",
     .bytes = 6.8e9,
     .words = "btio --only write --fresh " SLOW "--variant coll:--access=coll "
              "--variant simple:--access=pieces "
              "--variant caching:--access=coll,cache=coherent "
              "--variant writebehind:--access=pieces,cache=writebehind --against romio,mpich",
     .quick = "-n 4 --class W --steps 20 --reps 3",
     .full = "-n 4,9,16 --class A --steps 10 --reps 3",
     .axis = BRIO_BY_RANKS,
     .xlabel = "ranks",
     .seconds = {6, 70},
     .claim = {{"write-behind makes independent writes faster", "writebehind", BRIO_FASTER,
                "simple"},
               {"write-behind beats the native collective", "writebehind", BRIO_FASTER,
                "romio"},
               {"caching beats the native collective", "caching", BRIO_FASTER, "romio"}}},
    {.id = "001.5",
     .title =
         "FLASH I/O with caching and write-behind (figure 5; each call takes 100 us longer)",
     .found = "One contiguous append a rank and variable: forcing collectives is slower than "
              "independent writes; caching and write-behind beat both, by alignment.",
     .sizes = "about 80 blocks of 16^3 a rank, 24 variables, 2.5 MB a request",
     .bytes = 0,
     .words = "flash --only write --fresh " SLOW "--variant indep:--access=indep "
              "--variant coll:--access=coll --variant caching:--access=indep,cache=coherent "
              "--variant writebehind:--access=indep,cache=writebehind "
              "--against romio,ompio,mpich",
     .quick = "-n 4 --blocks 8 --reps 3",
     .full = "-n 2,4,8 --blocks 40 --reps 3",
     .axis = BRIO_BY_RANKS,
     .xlabel = "ranks",
     .seconds = {4, 50},
     .claim = {{"independent is not slower than collective", "indep", BRIO_NOT_SLOWER, "coll"},
               {"write-behind beats independent", "writebehind", BRIO_FASTER, "indep"},
               {"caching beats independent", "caching", BRIO_FASTER, "indep"}}},
    {.id = "001.5h",
     .title = "FLASH I/O through parallel HDF5 (figure 5, as the paper ran it)",
     .found = "The benchmark writes through HDF5, whose header unaligns the data.",
     .sizes = "about 80 blocks of 16^3 a rank, 24 variables",
     .bytes = 0,
     .words = "flash --through hdf5 --only write --fresh --against romio,ompio,mpich",
     .quick = "-n 4 --blocks 8 --reps 3",
     .full = "-n 2,4,8 --blocks 40 --reps 3",
     .axis = BRIO_BY_RANKS,
     .xlabel = "ranks",
     .seconds = {8, 35}},
    {.id = "001.7",
     .title = "S3D I/O with caching and write-behind (figure 7; each call takes 100 us longer)",
     .found =
         "Caching beats the native collective on both systems; write-behind is better still "
         "on Lustre, worse than the collective on GPFS; a file for each process (Fortran "
         "I/O) is the best on Lustre. Natively independent: below 5 MB/s.",
     .sizes = "50^3 points a rank, 10 checkpoints of 15.26 MB a rank",
     .bytes = 0,
     .words = "s3d --only write --fresh " SLOW "--variant coll:--access=coll "
              "--variant simple:--access=pieces "
              "--variant caching:--access=coll,cache=coherent "
              "--variant writebehind:--access=pieces,cache=writebehind "
              "--against romio,mpich,files",
     .quick = "-n 4 --side 16 --checkpoints 2 --reps 3",
     .full = "-n 2,4,8 --side 32 --checkpoints 3 --reps 3",
     .axis = BRIO_BY_RANKS,
     .xlabel = "ranks",
     .seconds = {8, 60},
     .claim = {{"caching beats the native collective", "caching", BRIO_FASTER, "romio"},
               {"write-behind makes independent writes faster", "writebehind", BRIO_FASTER,
                "simple"},
               {"a file for each process is faster than a shared one", "files", BRIO_FASTER,
                "coll"}}},
    {.id = "002.8",
     .title = "The inspector's time, by vector length (figure 8)",
     .found = "Hardly grows with the length of the vector: 16 tuples describe the exchange, "
              "whatever the length.",
     .sizes = "16 ranks, 8 blocks a rank, several lengths",
     .bytes = 0,
     .words = "blockcyclic --whole --only write --blocks 8 --variant iec:fcoll=iec",
     .quick = "-n 4 --size 64k,256k,1m --reps 5",
     .full = "-n 8 --size 64k,256k,1m,2m --reps 5",
     .xlabel = "floats in a block",
     .counter = "cpu.plan",
     .beside = "ns.plan",
     .seconds = {4, 12},
     .claim = {{"the inspector's time does not grow with the vector (here: processor time "
                "of a rank, for ranks share cores)",
                "iec", BRIO_FLAT, NULL}}},
    {.id = "002.9",
     .title = "The inspector's time, by number of ranks (figure 9)",
     .found = "Grows less than the number of ranks.",
     .sizes = "524288 floats, 8 blocks a rank, up to 16 ranks",
     .bytes = 0,
     .words = "blockcyclic --whole --only write --blocks 8 --size 2m "
              "--variant iec:fcoll=iec,cb_write=enable",
     .quick = "-n 2,4,8 --reps 5",
     .full = "-n 2,4,8,16,32 --reps 5",
     .axis = BRIO_BY_RANKS,
     .xlabel = "ranks",
     .counter = "cpu.plan",
     .beside = "ns.plan",
     .seconds = {8, 20},
     .claim =
         {{"the inspector's time grows less than the number of ranks (here: processor time "
           "of a rank, for ranks share cores)",
           "iec", BRIO_GROWS_LESS, NULL}}},
    {.id = "002.10",
     .title = "The executor's time, by block length (figures 10 and 11)",
     .found = "The same for every Bx: what is exchanged does not depend on it. The paper's two "
              "figures differ in the network; here ranks share memory.",
     .sizes = "16 ranks, 300 MB",
     .bytes = 314.6e6,
     .words = "blockcyclic --only write --variant iec:fcoll=iec",
     .quick = "-n 4 --size 16m --bx 1024,256,64,16,4,1 --reps 5",
     .full = "-n 8 --size 64m --bx 4096,1024,256,64,16,4,1 --reps 5",
     .xlabel = "Bx, floats",
     .seconds = {4, 15},
     .claim = {{"the executor's time does not depend on Bx", "iec", BRIO_FLAT, NULL}}},
    {.id = "002.12",
     .title = "List I/O, two-phase, IEC and Block I/O, the smaller file (figures 12 and 14)",
     .found = "Block I/O (here: the limit) is the bound; IEC comes close to it for every Bx. "
              "Two-phase reaches IEC at Bx = 16, List I/O at 512; below, both are far slower.",
     .sizes = "16 ranks, 100 MB",
     .bytes = 104.9e6,
     .words = "blockcyclic --only write --limit 6 --variant iec:fcoll=iec "
              "--variant two_phase:fcoll=two_phase "
              "--variant list:--access=indep,ds_write=disable --against romio,ompio,mpich",
     .quick = "-n 4 --size 4m --bx 1024,256,16,1 --reps 3",
     .full = "-n 8 --size 16m --bx 4096,1024,512,128,64,16,4,1 --reps 3",
     .xlabel = "Bx, floats",
     .seconds = {24, 120},
     .claim = {{"IEC does not depend on Bx", "iec", BRIO_FLAT, NULL},
               {"IEC is faster than List I/O", "iec", BRIO_FASTER, "list"},
               {"IEC is faster than two-phase (here: ROMIO's)", "iec", BRIO_FASTER, "romio"},
               {"IEC is close to Block I/O (here: the limit)", "iec", BRIO_ALIKE, "limit"}}},
    {.id = "002.13",
     .title = "List I/O, two-phase, IEC and Block I/O, the larger file (figures 13 and 15)",
     .found = "As with the smaller file. With the slower network (figure 15) List I/O beats "
              "two-phase at large Bx.",
     .sizes = "16 ranks, 500 MB",
     .bytes = 524.3e6,
     .words = "blockcyclic --only write --limit 6 --variant iec:fcoll=iec "
              "--variant two_phase:fcoll=two_phase "
              "--variant list:--access=indep,ds_write=disable --against romio,mpich",
     .quick = "-n 4 --size 16m --bx 1024,16 --reps 3",
     .full = "-n 8 --size 80m --bx 4096,512,64,16,1 --reps 3",
     .xlabel = "Bx, floats",
     .seconds = {14, 90},
     .claim = {{"IEC does not depend on Bx", "iec", BRIO_FLAT, NULL},
               {"IEC is faster than List I/O", "iec", BRIO_FASTER, "list"},
               {"IEC is close to Block I/O (here: the limit)", "iec", BRIO_ALIKE, "limit"}}},
    {.id = "003.1",
     .title = "The number of aggregators: Tile I/O and BT I/O, automatic against each number",
     .found = "134 tests: the automatic number was the best or within 10 % of it in 88 (66 %), "
              "within 25 % in 110 (82 %).",
     .sizes = "36 to 144 ranks on PVFS2 and Lustre",
     .bytes = 0,
     .words = "aggregators",
     .quick = "-n 4 --size 1m,8m --reps 5",
     .full = "-n 8 --size 1m,4m,16m,48m --reps 7 --starts 4",
     .xlabel = "case",
     .seconds = {16, 370},
     .claim = {{"the automatic choice is within 10 % of the best in 66 % of the cases", "brio",
                BRIO_WITHIN_10, "66"},
               {"and within 25 % in 82 %", "brio", BRIO_WITHIN_25, "82"}}},
    {.id = "003.2",
     .title = "Two-phase with the automatic number against one aggregator a node",
     .found = "Better than one aggregator a node in 29 of 45 cases, by 41 % on average.",
     .sizes = "36 to 144 ranks on PVFS2 and Lustre",
     .bytes = 0,
     .words = "aggregators --variant automatic:fcoll=two_phase "
              "--variant one:fcoll=two_phase,cb_nodes=1",
     .quick = "-n 4 --size 1m,8m --reps 5",
     .full = "-n 8 --size 1m,4m,16m,48m --reps 7",
     .xlabel = "case",
     .seconds = {11, 40},
     .claim = {{"the automatic number is not slower than one a node", "automatic",
                BRIO_NOT_SLOWER, "one"}}},
    {.id = "004.t1",
     .title = "MPI-TILE-IO, OMPIO against ROMIO (table 1)",
     .found =
         "OMPIO was 2 to 5 times faster than ROMIO's defaults: 591 against 304 MB/s and 625 "
         "against 290 on PVFS2, 2167 against 412 and 2491 against 518 on Lustre, for "
         "elements of 64 B and 1 MB, through more aggregators.",
     .sizes = "81 and 256 ranks, tiles of 2048 x 1600 elements of 64 B, 20 x 15 of 1 MB",
     .bytes = 256 * 2048.0 * 1600 * 64,
     .words = "tile --element 64,1m --against ompio,romio,mpich",
     .quick = "-n 4 --size 32m --reps 5",
     .full = "-n 4,9 --size 256m --reps 5",
     .xlabel = "bytes of an element",
     .seconds = {10, 60},
     .claim = {{"OMPIO is faster than ROMIO", "ompio", BRIO_FASTER, "romio"},
               {"a modular library beats ROMIO's defaults (here: Brio)", "brio", BRIO_FASTER,
                "romio"}}},
    {.id = "004.otpo",
     .title = "OTPO: fcoll module, aggregators and cycle buffer, 65 combinations",
     .found =
         "Of 65 combinations (dynamic, 20, 32 MB) was the best; 2 more were within 10 %, 23 "
         "within 25 %: the choice matters, and can be tuned without compiling anything.",
     .sizes =
         "Latency-IO; 5 to 40 aggregators, buffers of 2 to 128 MB; here: 65 combinations for "
         "eight ranks (otpo-8.tune), and tiles of 64-byte elements, since Brio writes "
         "Latency-IO's contiguous pieces directly whatever the module",
     .bytes = 0,
     .space = "otpo-8.tune",
     .quick = "--search halving --trials 16 --repeats 4",
     .full = "--search exhaustive --repeats 3",
     .xlabel = "bytes of an element",
     .seconds = {45, 200},
     .claim = {{"the choice matters: at most 37 % are within 25 % of the best", "automatic",
                BRIO_FEW_NEAR, "37"},
               {"Brio's own choice is within 10 % of the best", "automatic", BRIO_WITHIN_10,
                "100"}}},
};

const size_t brio_nexperiments = sizeof brio_experiments / sizeof brio_experiments[0];

const char *brio_paper_name(const char *number)
{
    static const char *const names[][2] = {
        {"000", "A framework architecture for shared file pointer operations in Open MPI"},
        {"001", "Using MPI file caching to improve parallel write performance"},
        {"002", "A collective I/O implementation based on Inspector-Executor paradigm"},
        {"003", "Automatically selecting the number of aggregators (slides)"},
        {"004", "OMPIO: a modular software architecture for MPI I/O"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(names[i][0], number, 3) == 0)
            return names[i][1];
    return NULL;
}
