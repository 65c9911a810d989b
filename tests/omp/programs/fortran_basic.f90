! Regions, loops, reductions, tasks and the functions of omp_lib, from Fortran.
program fortran_basic
  use omp_lib
  implicit none
  integer :: i, total, members, wrong, one
  integer(kind=omp_lock_kind) :: lock
  double precision :: sum, start
  integer :: ordered_at
  wrong = 0
  total = 0
  sum = 0
  members = 0
  call omp_set_dynamic(.false.)
  call omp_init_lock(lock)
  start = omp_get_wtime()
!$omp parallel num_threads(4) reduction(+:members) private(one)
  members = 1
  if (omp_get_num_threads() /= 4) members = -100
  one = omp_get_thread_num()
  if (one < 0 .or. one > 3) members = -100
  call omp_set_lock(lock)
  total = total + 1
  call omp_unset_lock(lock)
!$omp barrier
!$omp end parallel
  if (members /= 4 .or. total /= 4) wrong = wrong + 1
!$omp parallel do schedule(dynamic, 3) reduction(+:sum)
  do i = 1, 1000
    sum = sum + i
  end do
!$omp end parallel do
  if (sum /= 500500) wrong = wrong + 1
  ordered_at = 0
!$omp parallel do ordered schedule(guided)
  do i = 1, 100
!$omp ordered
    if (ordered_at /= i - 1) wrong = wrong + 1
    ordered_at = i
!$omp end ordered
  end do
!$omp end parallel do
  total = 0
!$omp parallel
!$omp single
  do i = 1, 100
!$omp task firstprivate(i)
!$omp atomic
    total = total + i
!$omp end task
  end do
!$omp end single
!$omp end parallel
  if (total /= 5050) wrong = wrong + 1
!$omp parallel workshare
  total = 1
!$omp end parallel workshare
!$omp parallel sections
!$omp section
!$omp critical (name)
  total = total + 1
!$omp end critical (name)
!$omp section
!$omp critical (name)
  total = total + 1
!$omp end critical (name)
!$omp end parallel sections
  if (total /= 3) wrong = wrong + 1
  call omp_set_num_threads(3)
  if (omp_get_max_threads() /= 3) wrong = wrong + 1
  if (omp_in_parallel()) wrong = wrong + 1
  if (omp_get_wtime() < start) wrong = wrong + 1
  call omp_destroy_lock(lock)
  if (wrong == 0) then
    print *, "fortran_basic.f90: right"
  else
    print *, "fortran_basic.f90: wrong in ", wrong, " places"
    stop 1
  end if
end program
