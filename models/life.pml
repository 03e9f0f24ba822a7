/* The life of one action: two executors that may crash or pause anywhere, people, a clock, a sweeper, a reconciler, and
   a provider behind a wire that loses and delays. A transaction of the store is one atomic block. The provider either
   only answers whether it has seen the call (default) or can also promise never to run it (CANCEL). */
#include "table.pml"

#ifndef CRASHES
#define CRASHES 2
#endif

mtype st = received;
byte fence, crashes, wire, sent, effects;
bool late, used, live;      /* the deadline has passed; the approval is consumed; authority held at the commit point */
bool seen, cancelled;       /* what the provider knows of the call */
byte reply[2];              /* to each executor: 0 none, 1 done, 2 refused and not done */
bool said_no, said_yes;     /* somebody was told that it did not happen, that it did */

#define NO said_no = true; assert(effects == 0)
#define YES said_yes = true; assert(effects > 0)
#define CRASH if :: crashes < CRASHES -> crashes++; goto again :: skip fi

proctype Executor(byte id) {
  byte f;
again:
  f = 0;
  do
  :: atomic { id == 0 && st == received -> move(st, received, executing); fence++; f = fence; live = true } goto begun
#ifdef BUG_CLAIM_WITHOUT_CAS
  :: st == approved -> atomic { !OVER(st) -> st = claimed; fence++; f = fence } break
#else
  :: atomic { st == approved -> move(st, approved, claimed); fence++; f = fence } break
#endif
  :: atomic { st == approved && !late && !used -> move(st, approved, executing); fence++; f = fence; live = true; used = true } goto begun
  :: atomic { st == claimed && fence < 4 -> move(st, claimed, claimed); fence++; f = fence } break
#ifdef BUG_TAKE_OVER_RUNNING
  :: atomic { st == executing && fence < 4 -> fence++; f = fence } goto begun
#endif
#ifdef BUG_RESTART_RUNS_AGAIN
  :: atomic { st == executing && crashes > 0 -> f = fence } goto begun
#endif
  :: OVER(st) || st == uncertain -> goto done
  od;
  CRASH;
#ifdef BUG_SEND_BEFORE_COMMIT
  atomic { st == claimed && fence == f -> live = !late; sent++; wire++ };
  CRASH;
#endif
#ifdef BUG_CHECK_THEN_ACT
  if :: late || used -> goto again :: else fi;
#define TIMELY true
#else
#define TIMELY (!late && !used)
#endif
  if
  :: atomic { st == claimed && fence == f && TIMELY -> live = (!late && !used); used = true; move(st, claimed, executing) }
  :: atomic { !(st == claimed && fence == f && TIMELY) -> goto again }
  fi;
begun:
  CRASH;
#ifndef BUG_SEND_BEFORE_COMMIT
  atomic { if :: sent < 3 -> sent++; wire++; reply[id] = 0 :: else -> goto done fi };
#endif
  CRASH;
  if
  :: atomic { reply[id] == 1 -> skip }; CRASH;
     atomic { if
       :: st == executing && fence == f -> move(st, executing, succeeded); YES
#ifdef BUG_FENCELESS_FINISH
       :: else -> assert(!OVER(st)); st = succeeded; YES
#else
       :: st == uncertain && fence == f -> move(st, uncertain, reconciled_succeeded); YES
       :: else
#endif
     fi }
  :: atomic { reply[id] == 2 -> skip }; CRASH;
     atomic { if :: st == executing && fence == f -> move(st, executing, failed); NO :: else fi }
  :: skip;                  /* no answer in time */
#ifdef BUG_TIMEOUT_IS_FAILURE
     atomic { if :: st == executing && fence == f -> move(st, executing, failed); NO :: else fi }
#else
     atomic { if :: st == executing && fence == f -> move(st, executing, uncertain) :: else fi }
#endif
  fi;
done: skip
}

active proctype Provider() {
  byte r;
  do
  :: atomic { wire > 0 -> wire--;
       if
       :: skip              /* lost on the way */
       :: if
          :: cancelled -> r = 2
          :: !cancelled -> effects++; seen = true; r = 1; assert(effects == 1); assert(live); assert(!said_no)
          :: !cancelled -> r = 2
          fi;
          if :: reply[0] = r :: reply[1] = r :: skip fi
       fi; r = 0 }
  :: OVER(st) && wire == 0 -> break
  od
}

active proctype Gate() {
  if
  :: atomic { st == received -> move(st, received, denied); NO }
  :: atomic { st == received -> move(st, received, pending_approval) }
  :: atomic { st == received -> move(st, received, approved) }
  :: st != received
  fi
}

active proctype Approver() {
  do
  :: atomic { st == pending_approval && !late -> move(st, pending_approval, pending_approval) } break
  :: st != received && st != pending_approval -> goto done
  od;
  if
  :: atomic { st == pending_approval && !late -> move(st, pending_approval, approved) }
  :: atomic { st == pending_approval && !late -> move(st, pending_approval, denied); NO }
  :: st != pending_approval || late
  fi;
done: skip
}

active proctype Revoker() {
  if
  :: atomic { st == pending_approval -> move(st, pending_approval, revoked); NO }
  :: atomic { st == approved -> move(st, approved, revoked); NO }
  :: atomic { st == claimed -> move(st, claimed, revoked); NO }
#ifdef BUG_REVOKE_RUNNING
  :: atomic { st == executing -> st = revoked; NO }
#endif
  :: skip
  fi
}

active proctype Drift() {   /* what the approval binds has changed */
  if
  :: atomic { st == approved -> move(st, approved, denied); NO }
  :: atomic { st == claimed -> move(st, claimed, denied); NO }
  :: skip
  fi
}

active proctype Clock() {
  if
  :: late = true;
     if
     :: atomic { st == pending_approval -> move(st, pending_approval, expired); NO }
     :: atomic { st == approved -> move(st, approved, expired); NO }
     :: atomic { st == claimed -> move(st, claimed, expired); NO }
     :: skip
     fi
  :: skip
  fi
}

active proctype Sweeper() {
  do
  :: atomic { st == executing -> move(st, executing, uncertain) }   /* also where the owner is only paused */
  :: atomic { st == uncertain && seen -> move(st, uncertain, reconciled_succeeded); YES }
#ifdef CANCEL
  :: atomic { st == uncertain && !seen -> cancelled = true; move(st, uncertain, reconciled_failed); NO }
#endif
#ifdef BUG_NOT_FOUND_IS_FAILURE
  :: atomic { st == uncertain && !seen -> move(st, uncertain, reconciled_failed); NO }
#endif
  :: OVER(st) -> break
  od
}

init { atomic { run Executor(0); run Executor(1) } }
