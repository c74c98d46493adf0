! Files from Fortran as users write it, in one of three bindings: compiled with
! -DBIND_MPIFH (include 'mpif.h'), -DBIND_MPI (use mpi) or -DBIND_F08 (use mpi_f08).
! `fortran` runs all cases, `fortran NAME...` only those; one line for each.
#if defined(BIND_F08)
#define FILE_IS(x) type(MPI_File) :: x
#define ERRHANDLER_IS(x) type(MPI_Errhandler) :: x
#define DATATYPE_IS(x) type(MPI_Datatype) :: x
#define INFO_IS(x) type(MPI_Info) :: x
#define REQUESTS_ARE(x,n) type(MPI_Request) :: x(n)
#define STATUS_IS(x) type(MPI_Status) :: x
#define STATUSES_ARE(x,n) type(MPI_Status) :: x(n)
#define STATUS_OF(x,i) x(i)
#else
#define FILE_IS(x) integer :: x
#define ERRHANDLER_IS(x) integer :: x
#define DATATYPE_IS(x) integer :: x
#define INFO_IS(x) integer :: x
#define REQUESTS_ARE(x,n) integer :: x(n)
#define STATUS_IS(x) integer :: x(MPI_STATUS_SIZE)
#define STATUSES_ARE(x,n) integer :: x(MPI_STATUS_SIZE, n)
#define STATUS_OF(x,i) x(:, i)
#endif

module client
   use, intrinsic :: iso_c_binding
#if defined(BIND_F08)
   use mpi_f08
#elif defined(BIND_MPI)
   use mpi
#endif
   implicit none
#if defined(BIND_MPIFH)
   include 'mpif.h'
#elif defined(BIND_MPI) && defined(MPI_IS_mpich)
   external :: MPI_CONVERSION_FN_NULL ! missing in MPICH's module
#endif
   integer, parameter :: off = MPI_OFFSET_KIND
   integer :: rank, nranks, failures
   character(len=256) :: path
   logical :: brio

   ! What the error handler saw.
   integer :: handler_calls, handler_class
   logical :: handler_could_use

contains

   subroutine check(good, what)
      logical, intent(in) :: good
      character(len=*), intent(in) :: what
      if (good) return
      failures = failures + 1
      if (failures <= 10) write (0, '(a,i0,2a)') 'rank ', rank, ': wrong: ', what
   end subroutine

   subroutine open_file(amode, fh)
      integer, intent(in) :: amode
      FILE_IS(fh)
      integer :: ierr
      call MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, fh, ierr)
      call check(ierr == MPI_SUCCESS, 'open')
   end subroutine

   subroutine views()
      FILE_IS(fh)
      DATATYPE_IS(filetype)
      STATUS_IS(status)
      integer :: ierr, i, n
      integer :: mine(20), all(20*nranks)
      integer(kind=off) :: disp, size, where, bytes
      call open_file(MPI_MODE_RDWR + MPI_MODE_CREATE, fh)
      call MPI_Type_vector(5, 4, 4*nranks, MPI_INTEGER, filetype, ierr)
      call MPI_Type_commit(filetype, ierr)
      disp = 16*rank
      call MPI_File_set_view(fh, disp, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL, ierr)
      call check(ierr == MPI_SUCCESS, 'set_view')
      do i = 0, 19
         mine(i + 1) = (i/4)*4*nranks + 4*rank + mod(i, 4)
      end do
      call MPI_File_write_all(fh, mine, 20, MPI_INTEGER, status, ierr)
      call check(ierr == MPI_SUCCESS, 'write_all')
      call MPI_Get_count(status, MPI_INTEGER, n, ierr)
      call check(n == 20, 'count of write_all')
      call MPI_File_get_position(fh, where, ierr)
      call check(where == 20, 'position')
      call MPI_File_get_byte_offset(fh, 4_off, bytes, ierr)
      call check(bytes == disp + 16*nranks, 'byte offset')
      call MPI_File_sync(fh, ierr)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call MPI_File_sync(fh, ierr)
      call MPI_File_set_view(fh, 0_off, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL, ierr)
      all = -1
      call MPI_File_read_at(fh, 0_off, all, 20*nranks, MPI_INTEGER, status, ierr)
      call check(all(1) == 0 .and. all(20*nranks) == 20*nranks - 1, 'ends of the file')
      call check(sum(all) == 10*nranks*(20*nranks - 1), 'the whole file')
      call MPI_File_get_size(fh, size, ierr)
      call check(size == 80*nranks, 'size')
      call MPI_Type_free(filetype, ierr)
      call MPI_File_close(fh, ierr)
      call check(fh == MPI_FILE_NULL, 'handle after close')
   end subroutine

   subroutine served()
      FILE_IS(fh)
      INFO_IS(info)
      character(len=64) :: version
      logical :: found
      integer :: ierr
      call open_file(MPI_MODE_RDWR + MPI_MODE_CREATE, fh)
      call MPI_File_get_info(fh, info, ierr)
      call MPI_Info_get(info, 'brio_version', 60, version, found, ierr)
      call check(found .eqv. brio, 'whether Brio serves the file')
      call MPI_Info_free(info, ierr)
      call MPI_File_close(fh, ierr)
   end subroutine

   subroutine on_error(fh, code)
      FILE_IS(fh)
      integer :: code
      integer :: ierr, amode
      handler_calls = handler_calls + 1
      call MPI_Error_class(code, handler_class, ierr)
      call MPI_File_get_amode(fh, amode, ierr)
      handler_could_use = ierr == MPI_SUCCESS .and. amode == MPI_MODE_RDONLY
   end subroutine

   subroutine errors()
      FILE_IS(fh)
      ERRHANDLER_IS(handler)
      STATUS_IS(status)
      integer :: ierr, class
      call open_file(MPI_MODE_WRONLY + MPI_MODE_CREATE, fh)
      call MPI_File_close(fh, ierr)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call open_file(MPI_MODE_RDONLY, fh)
      call MPI_File_create_errhandler(on_error, handler, ierr)
      call check(ierr == MPI_SUCCESS, 'create_errhandler')
      call MPI_File_set_errhandler(fh, handler, ierr)
      call check(ierr == MPI_SUCCESS, 'set_errhandler')
      call MPI_Errhandler_free(handler, ierr)
      handler_calls = 0
      handler_could_use = .false.
      call MPI_File_write_at(fh, 0_off, rank, 1, MPI_INTEGER, status, ierr)
      call check(ierr /= MPI_SUCCESS, 'write to a read-only file')
      call MPI_Error_class(ierr, class, ierr)
      call check(class == MPI_ERR_READ_ONLY, 'class of the error')
      call check(handler_calls == 1, 'calls of the handler')
      call check(handler_class == MPI_ERR_READ_ONLY, 'class in the handler')
      call check(handler_could_use, 'the handle in the handler')
      handler_could_use = .false.
      call MPI_File_call_errhandler(fh, MPI_ERR_OTHER, ierr)
      call check(handler_calls == 2 .and. handler_could_use, 'call_errhandler')
      call MPI_File_set_errhandler(fh, MPI_ERRORS_RETURN, ierr)
      call MPI_File_write_at(fh, 0_off, rank, 1, MPI_INTEGER, status, ierr)
      call check(ierr /= MPI_SUCCESS .and. handler_calls == 2, 'errors return again')
      call MPI_File_close(fh, ierr)
   end subroutine

   subroutine nonblocking()
      FILE_IS(fh)
      REQUESTS_ARE(requests, 4)
      STATUSES_ARE(statuses, 4)
      STATUS_IS(status)
      double precision, asynchronous :: out(100, 4), back(100, 4)
      integer :: ierr, i, n
      logical :: done
      integer(kind=off) :: at
      call open_file(MPI_MODE_RDWR + MPI_MODE_CREATE, fh)
      do i = 1, 4
         out(:, i) = rank + i/10d0
         at = 800_off*((i - 1)*nranks + rank)
         call MPI_File_iwrite_at(fh, at, out(1, i), 100, MPI_DOUBLE_PRECISION, requests(i), ierr)
         call check(ierr == MPI_SUCCESS, 'iwrite_at')
      end do
      call MPI_Waitall(4, requests, statuses, ierr)
      do i = 1, 4
         call MPI_Get_count(STATUS_OF(statuses, i), MPI_DOUBLE_PRECISION, n, ierr)
         call check(n == 100, 'count of iwrite_at')
      end do
      back = 0
      call MPI_File_seek(fh, 800_off*rank, MPI_SEEK_SET, ierr)
      call MPI_File_iread(fh, back(1, 1), 100, MPI_DOUBLE_PRECISION, requests(1), ierr)
      done = .false.
      do while (.not. done)
         call MPI_Test(requests(1), done, status, ierr)
      end do
      call check(all(back(:, 1) == out(:, 1)), 'iread')
      at = 800_off*(4*nranks + rank)
      call MPI_File_iwrite_at_all(fh, at, out(1, 3), 100, MPI_DOUBLE_PRECISION, requests(1), ierr)
      call MPI_Wait(requests(1), status, ierr)
      call MPI_File_iread_at_all(fh, at, back(1, 2), 100, MPI_DOUBLE_PRECISION, requests(1), ierr)
      call MPI_Wait(requests(1), status, ierr)
      call check(all(back(:, 2) == out(:, 3)), 'iread_at_all')
      call MPI_File_close(fh, ierr)
   end subroutine

   subroutine shared()
      FILE_IS(fh)
      STATUS_IS(status)
      integer :: ierr, i, n, record(8), seen(nranks), total(nranks)
      integer(kind=off) :: where
      call open_file(MPI_MODE_RDWR + MPI_MODE_CREATE, fh)
      call MPI_File_set_view(fh, 0_off, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
      record = rank + 1
      do i = 1, 5
         call MPI_File_write_shared(fh, record, 8, MPI_INTEGER, status, ierr)
         call check(ierr == MPI_SUCCESS, 'write_shared')
      end do
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call MPI_File_get_position_shared(fh, where, ierr)
      call check(where == 40*nranks, 'shared position')
      call MPI_File_sync(fh, ierr)
      call MPI_File_seek_shared(fh, 0_off, MPI_SEEK_SET, ierr)
      seen = 0
      do i = 1, 5
         call MPI_File_read_shared(fh, record, 8, MPI_INTEGER, status, ierr)
         call check(all(record == record(1)), 'an undivided record')
         n = record(1)
         if (n >= 1 .and. n <= nranks) seen(n) = seen(n) + 1
      end do
      call MPI_Allreduce(seen, total, nranks, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
      call check(all(total == 5), 'records of each rank')
      call MPI_File_seek_shared(fh, 0_off, MPI_SEEK_SET, ierr)
      call MPI_File_write_ordered(fh, rank, 1, MPI_INTEGER, status, ierr)
      call MPI_File_sync(fh, ierr)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call MPI_File_read_at(fh, int(nranks - 1, off), n, 1, MPI_INTEGER, status, ierr)
      call check(n == nranks - 1, 'write_ordered')
      call MPI_File_close(fh, ierr)
   end subroutine

   subroutine split()
      FILE_IS(fh)
      STATUS_IS(status)
      integer, asynchronous :: out(30), back(30)
      integer :: ierr, n
      call open_file(MPI_MODE_RDWR + MPI_MODE_CREATE, fh)
      out = rank*7
      back = -1
      call MPI_File_write_at_all_begin(fh, 120_off*rank, out, 30, MPI_INTEGER, ierr)
      call MPI_File_write_at_all_end(fh, out, status, ierr)
      call MPI_Get_count(status, MPI_INTEGER, n, ierr)
      call check(n == 30, 'count of a split write')
      call MPI_File_seek(fh, 120_off*rank, MPI_SEEK_SET, ierr)
      call MPI_File_read_all_begin(fh, back, 30, MPI_INTEGER, ierr)
      call MPI_File_read_all_end(fh, back, status, ierr)
      call check(all(back == out), 'split read')
      call MPI_File_close(fh, ierr)
   end subroutine

   ! Array sections as buffers. Blocking calls are safe in every binding (the compiler may
   ! copy); nonblocking ones only where the binding hands over a descriptor.
   subroutine sections()
      FILE_IS(fh)
      REQUESTS_ARE(requests, 2)
      STATUSES_ARE(statuses, 2)
      STATUS_IS(status)
      integer, asynchronous :: grid(12, 10), back(12, 10)
      integer :: ierr, i, j, packed(5*3)
      integer(kind=off) :: at
      do j = 1, 10
         grid(:, j) = [(1000*rank + 12*j + i, i=1, 12)]
      end do
      back = -1
      call open_file(MPI_MODE_RDWR + MPI_MODE_CREATE, fh)
      at = 120_off*rank
      call MPI_File_write_at(fh, at, grid(2:10:2, 3:9:3), 15, MPI_INTEGER, status, ierr)
      call check(ierr == MPI_SUCCESS, 'write a section')
      call MPI_File_read_at(fh, at, packed, 15, MPI_INTEGER, status, ierr)
      call check(all(packed == reshape(grid(2:10:2, 3:9:3), [15])), 'the section in the file')
      call MPI_File_read_at_all(fh, at, back(1:9:2, 1:3), 15, MPI_INTEGER, status, ierr)
      call check(all(back(1:9:2, 1:3) == grid(2:10:2, 3:9:3)), 'read into a section')
      call check(count(back /= -1) == 15, 'only the section was touched')
#if defined(BIND_F08)
      if (MPI_SUBARRAYS_SUPPORTED) then
         at = at + 60
         back = -1
         call MPI_File_iwrite_at(fh, at, grid(1:9:2, 1:5:2), 15, MPI_INTEGER, requests(1), ierr)
         call MPI_Wait(requests(1), status, ierr)
         call MPI_File_iread_at(fh, at, back(1:9:2, 2:6:2), 15, MPI_INTEGER, requests(1), ierr)
         call MPI_File_iread_at(fh, at, back(2:10:2, 1:5:2), 15, MPI_INTEGER, requests(2), ierr)
         call MPI_Waitall(2, requests, statuses, ierr)
         call check(all(back(1:9:2, 2:6:2) == grid(1:9:2, 1:5:2)), 'iread into a section')
         call check(all(back(2:10:2, 1:5:2) == grid(1:9:2, 1:5:2)), 'iread into another')
         call check(count(back /= -1) == 30, 'only the sections were touched')
      end if
#endif
      call MPI_File_close(fh, ierr)
   end subroutine

   subroutine flip_words(from, to, n)
      integer(kind=c_int64_t), intent(in) :: from(*)
      integer(kind=c_int64_t), intent(out) :: to(*)
      integer, intent(in) :: n
      to(1:n) = not(from(1:n))
   end subroutine

   ! A representation of words with all bits flipped; extra_state counts the calls.
   integer function words_of(datatype, count)
      DATATYPE_IS(datatype)
      integer, intent(in) :: count
      integer :: bytes, ierr
      call MPI_Type_size(datatype, bytes, ierr)
      words_of = bytes*count/8
   end function

#if defined(BIND_F08)
   subroutine to_file(userbuf, datatype, count, filebuf, position, extra_state, ierror)
      type(c_ptr), value :: userbuf, filebuf
      type(MPI_Datatype) :: datatype
      integer :: count, ierror
      integer(kind=MPI_OFFSET_KIND) :: position
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      integer(kind=c_int64_t), pointer :: user(:), file(:)
      integer :: n, skip
      n = words_of(datatype, count)
      skip = words_of(datatype, int(position))
      call c_f_pointer(userbuf, user, [skip + n])
      call c_f_pointer(filebuf, file, [n])
      call flip_words(user(skip + 1:), file, n)
      ierror = MPI_SUCCESS
      extra_state = extra_state + 1
   end subroutine

   subroutine from_file(userbuf, datatype, count, filebuf, position, extra_state, ierror)
      type(c_ptr), value :: userbuf, filebuf
      type(MPI_Datatype) :: datatype
      integer :: count, ierror
      integer(kind=MPI_OFFSET_KIND) :: position
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      integer(kind=c_int64_t), pointer :: user(:), file(:)
      integer :: n, skip
      n = words_of(datatype, count)
      skip = words_of(datatype, int(position))
      call c_f_pointer(userbuf, user, [skip + n])
      call c_f_pointer(filebuf, file, [n])
      call flip_words(file, user(skip + 1:), n)
      ierror = MPI_SUCCESS
      extra_state = extra_state + 1
   end subroutine
#else
   subroutine to_file(userbuf, datatype, count, filebuf, position, extra_state, ierror)
      integer(kind=c_int64_t) :: userbuf(*), filebuf(*)
      integer :: datatype, count, ierror
      integer(kind=MPI_OFFSET_KIND) :: position
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      call flip_words(userbuf(words_of(datatype, int(position)) + 1), filebuf, &
                      words_of(datatype, count))
      ierror = MPI_SUCCESS
      extra_state = extra_state + 1
   end subroutine

   subroutine from_file(userbuf, datatype, count, filebuf, position, extra_state, ierror)
      integer(kind=c_int64_t) :: userbuf(*), filebuf(*)
      integer :: datatype, count, ierror
      integer(kind=MPI_OFFSET_KIND) :: position
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      call flip_words(filebuf, userbuf(words_of(datatype, int(position)) + 1), &
                      words_of(datatype, count))
      ierror = MPI_SUCCESS
      extra_state = extra_state + 1
   end subroutine
#endif

   subroutine file_extent(datatype, extent, extra_state, ierror)
      DATATYPE_IS(datatype)
      integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
      integer :: ierror
      integer(kind=MPI_ADDRESS_KIND) :: lb
      call MPI_Type_get_extent(datatype, lb, extent, ierror)
   end subroutine

   subroutine datarep()
      FILE_IS(fh)
      STATUS_IS(status)
      integer :: ierr, i
      integer(kind=MPI_ADDRESS_KIND), save :: calls = 0
      integer(kind=c_int64_t) :: words(50)
      double precision :: out(50), back(50)
      out = [(rank + i*0.25d0, i=1, 50)]
      call MPI_Register_datarep('flipped', from_file, to_file, file_extent, calls, ierr)
      call check(ierr == MPI_SUCCESS, 'register_datarep')
      if (ierr /= MPI_SUCCESS) return
      call open_file(MPI_MODE_RDWR + MPI_MODE_CREATE, fh)
      call MPI_File_set_view(fh, 400_off*rank, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, &
                             'flipped', MPI_INFO_NULL, ierr)
      call check(ierr == MPI_SUCCESS, 'set_view')
      call MPI_File_write_all(fh, out, 50, MPI_DOUBLE_PRECISION, status, ierr)
      call check(ierr == MPI_SUCCESS, 'write_all')
      call check(calls > 0, 'the conversion was not called')
      calls = 0
      back = 0
      call MPI_File_read_at(fh, 0_off, back, 50, MPI_DOUBLE_PRECISION, status, ierr)
      call check(all(back == out), 'what was written, read again')
      call check(calls > 0, 'the conversion was not called for reading')
      call MPI_File_set_view(fh, 400_off*rank, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL, ierr)
      call MPI_File_read_at(fh, 0_off, words, 400, MPI_BYTE, status, ierr)
      call check(all(words == not(transfer(out, words))), 'the flipped words in the file')
      call MPI_Register_datarep('flipped', from_file, to_file, file_extent, calls, ierr)
      call check(ierr /= MPI_SUCCESS, 'register_datarep a second time')
      call MPI_Register_datarep('same', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, &
                                file_extent, calls, ierr)
      call check(ierr == MPI_SUCCESS, 'register_datarep without conversion')
      call MPI_File_set_view(fh, 400_off*rank, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, &
                             'same', MPI_INFO_NULL, ierr)
      call check(ierr == MPI_SUCCESS, 'set_view without conversion')
      call MPI_File_read_at(fh, 0_off, back, 50, MPI_DOUBLE_PRECISION, status, ierr)
      call check(all(transfer(back, words) == words), 'the words without conversion')
      call MPI_File_close(fh, ierr)
   end subroutine

end module

program fortran
   use client
   implicit none
   integer :: ierr, got, bad
   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
   call get_environment_variable('BRIO_RUN_MARK', status=got)
   brio = got /= 1
   bad = 0
   call run('served', served)
   call run('views', views)
   call run('errors', errors)
   call run('nonblocking', nonblocking)
   call run('shared', shared)
   call run('split', split)
   call run('sections', sections)
   call run('datarep', datarep)
   call MPI_Finalize(ierr)
   if (bad > 0) stop 1

contains

   logical function wanted(name)
      character(len=*), intent(in) :: name
      character(len=64) :: word
      integer :: i
      wanted = command_argument_count() == 0
      do i = 1, command_argument_count()
         call get_command_argument(i, word)
         wanted = wanted .or. word == name
      end do
   end function

   subroutine run(name, body)
      character(len=*), intent(in) :: name
      interface
         subroutine body()
         end subroutine
      end interface
      integer :: all
      if (.not. wanted(name)) return
      path = 'fortran.'//name//'.dat'
      if (rank == 0) call MPI_File_delete(path, MPI_INFO_NULL, ierr)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      failures = 0
      call body()
      call MPI_Allreduce(failures, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
      if (all > 0) bad = bad + 1
      if (rank == 0) write (*, '(3a)') merge('FAIL', 'ok  ', all > 0), ' ', name
   end subroutine

end program
