! A task that is detached, from Fortran: its event is fulfilled by another task, before or after its body, and a task
! that depends on it comes after both.
program fortran_detach
  use omp_lib
  implicit none
  integer :: round, wrong, x, y, seen_x, seen_y
  integer(kind=omp_event_handle_kind) :: event
  wrong = 0
  do round = 1, 20
    x = 0
    y = 0
    seen_x = -1
    seen_y = -1
!$omp parallel
!$omp single
!$omp task depend(out: y) detach(event)
    y = y + 1
!$omp end task
!$omp task
    x = 1
    call omp_fulfill_event(event)
!$omp end task
!$omp task depend(inout: y)
    seen_x = x
    seen_y = y
!$omp end task
!$omp end single
!$omp end parallel
    if (seen_x /= 1 .or. seen_y /= 1) wrong = wrong + 1
  end do
  if (wrong == 0) then
    print *, "fortran_detach.f90: right"
  else
    print *, "fortran_detach.f90: wrong in ", wrong, " places"
    stop 1
  end if
end program
