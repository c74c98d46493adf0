// A C++ program that uses MPI's files through a small class of its own, as C++ users do:
// move-only ownership, exceptions, std::vector buffers, an error handler; and through the
// old MPI:: bindings where the MPI still carries them.
#include "clients.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace
{

void must(int err, const char *what)
{
    if (err == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING];
    int len = 0;
    MPI_Error_string(err, text, &len);
    throw std::runtime_error(std::string(what) + ": " + std::string(text, std::size_t(len)));
}

class File
{
  public:
    File(MPI_Comm comm, const std::string &path, int amode)
    {
        must(MPI_File_open(comm, path.c_str(), amode, MPI_INFO_NULL, &fh_), "open");
    }
    File(File &&other) noexcept : fh_(std::exchange(other.fh_, MPI_FILE_NULL))
    {
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    ~File()
    {
        if (fh_ != MPI_FILE_NULL)
            MPI_File_close(&fh_);
    }
    MPI_File handle() const
    {
        return fh_;
    }
    void write_all(MPI_Offset at, const std::vector<double> &data)
    {
        MPI_Status status;
        int count = 0;
        must(MPI_File_write_at_all(fh_, at, data.data(), int(data.size()), MPI_DOUBLE, &status),
             "write_at_all");
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        CHECK(count == int(data.size()), "wrote %d of %zu", count, data.size());
    }
    std::vector<double> read(MPI_Offset at, std::size_t n)
    {
        std::vector<double> data(n);
        MPI_Status status;
        int count = 0;
        must(MPI_File_read_at(fh_, at, data.data(), int(n), MPI_DOUBLE, &status), "read_at");
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        data.resize(std::size_t(count));
        return data;
    }

  private:
    MPI_File fh_ = MPI_FILE_NULL;
};

std::vector<double> numbers(int rank)
{
    std::vector<double> data;
    for (int i = 0; i < 1000; i++)
        data.push_back(rank * 1000 + i);
    return data;
}

void moves()
{
    const MPI_Offset bytes = 1000 * sizeof(double);
    File first(MPI_COMM_WORLD, test_file(), MPI_MODE_CREATE | MPI_MODE_RDWR);
    check_served(first.handle());
    File file(std::move(first));
    file.write_all(test_rank * bytes, numbers(test_rank));
    MPI_File_sync(file.handle());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file.handle());
    const int other = (test_rank + 1) % test_nranks;
    CHECK(file.read(other * bytes, 1000) == numbers(other), "another rank's numbers");
    CHECK(file.read(test_nranks * bytes - 80, 1000).size() == 10, "the end of the file");
}

void throws()
{
    bool thrown = false;
    try {
        File none(MPI_COMM_WORLD, std::string(test_file()) + ".none/x", MPI_MODE_RDONLY);
    } catch (const std::runtime_error &error) {
        thrown = true;
        CHECK(std::string(error.what()).size() > 10, "%s", error.what());
    }
    CHECK(thrown, "a missing file was opened");
}

struct Seen {
    int calls = 0;
    bool usable = false;
};
Seen seen;

void on_error(MPI_File *fh, int *, ...)
{
    MPI_Offset size = -1;
    seen.calls++;
    seen.usable = MPI_File_get_size(*fh, &size) == MPI_SUCCESS && size >= 0;
}

void handlers()
{
    MPI_Errhandler handler;
    File file(MPI_COMM_WORLD, test_file(), MPI_MODE_CREATE | MPI_MODE_WRONLY);
    MPI_File_create_errhandler(on_error, &handler);
    MPI_File_set_errhandler(file.handle(), handler);
    MPI_Errhandler_free(&handler);
    double got = 0;
    int err = MPI_File_read_at(file.handle(), 0, &got, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    CHECK(err != MPI_SUCCESS, "read from a write-only file");
    CHECK(seen.calls == 1, "the handler was called %d times", seen.calls);
    CHECK(seen.usable, "the handler's file cannot be used");
}

#ifdef MPI_CXX_BINDINGS
void bindings()
{
    MPI::File file = MPI::File::Open(MPI::COMM_WORLD, test_file(),
                                     MPI::MODE_CREATE | MPI::MODE_RDWR, MPI::INFO_NULL);
    file.Write_ordered(&test_rank, 1, MPI::INT);
    file.Sync();
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<int> all(std::size_t(test_nranks), -1);
    file.Read_at(0, all.data(), test_nranks, MPI::INT);
    for (int i = 0; i < test_nranks; i++)
        CHECK(all[std::size_t(i)] == i, "place %d: %d", i, all[std::size_t(i)]);
    MPI::Info info = file.Get_info();
    char text[64];
    CHECK(info.Get("brio_version", 63, text) == (brio_expected() != 0), "served by Brio");
    info.Free();
    file.Close();
}
#else
void bindings()
{
    SKIP("this MPI has no C++ bindings");
}
#endif

} // namespace

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        TEST(moves), TEST(throws), TEST(handlers), TEST(bindings), {nullptr, nullptr}};
    MPI_Init(&argc, &argv);
    int code = test_main_mpi(argc, argv, cases);
    MPI_Finalize();
    return code;
}
