/* A name means a target. Somebody may move it, or take it away, at any time. The call is resolved before policy, people
   approve the target, and the target is frozen. Between claim and commit point the name is asked again. */
#include "table.pml"

mtype st = received;
byte means = 1;              /* what the name means now; 0: nothing */
byte frozen, shown;          /* the target in the snapshot; the one that people saw */
bool claimed_yet, agreed;    /* since the claim there was a moment at which the name meant the frozen target */

#define NOTE agreed = (agreed || (claimed_yet && means == frozen))

active proctype Mover() {
  byte moves;
  do
  :: moves < 3 -> atomic { moves++; if :: means = 0 :: means = 1 :: means = 2 fi; NOTE }
  :: break
  od
}

active proctype Walk() {
  byte again;
  frozen = means;
  if :: frozen == 0 -> goto done :: else fi;                   /* unresolved: no decision, no row */
  atomic { shown = frozen; move(st, received, pending_approval) };
  if
  :: atomic { move(st, pending_approval, approved) }
  :: atomic { move(st, pending_approval, denied) }; goto done
  fi;
  atomic { move(st, approved, claimed); claimed_yet = true; NOTE };
#ifdef BUG_NOT_ASKED_AGAIN
  again = frozen;
#else
  again = means;
#endif
#ifdef BUG_NEW_ANSWER_RUNS
  if :: again != 0 -> frozen = again; agreed = true :: else fi;
#endif
  if
#ifdef BUG_GONE_IS_UNCHANGED
  :: again != frozen && again != 0
#else
  :: again != frozen
#endif
     -> atomic { move(st, claimed, denied) }; goto done
  :: else
  fi;
  atomic { move(st, claimed, executing); assert(frozen == shown); assert(agreed) };
done: skip
}
