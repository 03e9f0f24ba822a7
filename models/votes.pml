/* Two of the group must agree. Four accounts: 0 is the proposer and in the group, 1 to 3 are others of it; 3 may lose
   the right at any time. Each may press the button twice, with another session each time, and an answer may be a yes or
   a no. The commit point counts again. */
#include "table.pml"

#define VOTERS 4
mtype st = pending_approval;
bool yes[VOTERS], no, late, active3 = true;
byte counted;                /* what a careless count would hold */

/* The count of the store, the same in both places, and the true one. */
inline tally(n) {
#ifdef BUG_COUNTS_SESSIONS
  n = counted
#else
#ifdef BUG_PROPOSER_VOTES
  n = (yes[0] -> 1 : 0) + (yes[1] -> 1 : 0) + (yes[2] -> 1 : 0) + ((yes[3] && active3) -> 1 : 0)
#else
  people(n)
#endif
#endif
}
inline people(n) { n = (yes[1] -> 1 : 0) + (yes[2] -> 1 : 0) + ((yes[3] && active3) -> 1 : 0) }

#ifdef BUG_PROPOSER_VOTES
#define PERSON(id) true
#else
#define PERSON(id) (id != 0)
#endif
#ifdef BUG_COUNTS_SESSIONS
#define NEW(id) true
#else
#define NEW(id) !yes[id]
#endif

proctype Voter(byte id) {
  byte n, tries;
  do
  :: tries < 2 -> tries++;
     if
     :: atomic { skip;
          if
          :: st == pending_approval && !late && PERSON(id) && (id != 3 || active3) && NEW(id) -> yes[id] = true; counted++; tally(n);
             if :: n >= 2 -> move(st, pending_approval, approved) :: else -> move(st, pending_approval, pending_approval) fi
          :: else
          fi; n = 0 }
     :: atomic { skip;
          if
          :: id != 0 && (id != 3 || active3) && !yes[id] && !late && st == pending_approval -> no = true;
#ifndef BUG_REJECTION_IS_ONE_VOTE
             move(st, pending_approval, denied)
#else
             skip
#endif
          :: else
          fi }
     :: skip
     fi
  :: tries == 2 -> break
  od
}

active proctype Leaver() { if :: active3 = false :: skip fi }

active proctype Clock() {
  if
  :: late = true; if :: atomic { st == pending_approval -> move(st, pending_approval, expired) } :: st != pending_approval fi
  :: skip
  fi
}

active proctype Executor() {
  byte n;
  if
  :: atomic { st == approved -> move(st, approved, claimed) }
  :: st != approved && st != pending_approval -> goto done
  fi;
  atomic {
    tally(n);
    if
#ifdef BUG_VOTES_NOT_COUNTED_AGAIN
    :: !late ->
#else
    :: !late && n >= 2 ->
#endif
       move(st, claimed, executing); people(n); assert(n >= 2); assert(!no)
    :: else -> move(st, claimed, denied)
    fi }
done: skip
}

init { atomic { run Voter(0); run Voter(1); run Voter(2); run Voter(3) } }
