/* A backup is taken at some time; work goes on; then the store is replaced by the backup. Row 0 needs people; row 1 is
   allowed, and its caller tries again with the same key until it has an answer. What was acknowledged between backup and
   restore is unknown afterwards. A restore ends open rows, moves the policy epoch to one that was never given, and stops
   every start. An operator lifts the stop only when what really happened in between has been compared with what the
   store knows, and the callers of what is lost have been told. */
#include "table.pml"

mtype st[2] = received;
byte epoch = 1, bound;       /* bound: the epoch that row 0 was decided under */
bool stopped, era, bound_era;
byte effects[2];

mtype kept[2] = received;    /* the backup */
byte kept_epoch, kept_bound;
bool kept_era, taken;
bool lost[2];                /* happened, and the restored store does not know the row */

inline begin(i, decided_era) { effects[i]++; assert(effects[i] == 1); assert(decided_era == era) }

active proctype Asked() {
  do
  :: atomic { st[0] == received -> move(st[0], received, pending_approval); bound = epoch; bound_era = era }
  :: atomic { st[0] == pending_approval -> move(st[0], pending_approval, approved) }
  :: atomic { st[0] == approved -> move(st[0], approved, claimed) }
  :: atomic { st[0] == claimed && !stopped && bound == epoch -> move(st[0], claimed, executing); begin(0, bound_era) }
  :: atomic { st[0] == claimed && bound != epoch -> move(st[0], claimed, denied) }
  :: atomic { st[0] == executing -> if :: move(st[0], executing, succeeded) :: move(st[0], executing, uncertain) fi }
  :: era && OVER(st[0]) -> break
  od
}

active proctype Keyed() {
  byte decided, tries;
  bool decided_era;
  do
  :: tries < 4 -> tries++;
     atomic { decided = epoch; decided_era = era };
     atomic {
       if
       :: st[1] == received && !stopped && decided == epoch -> move(st[1], received, executing); begin(1, decided_era)
       :: else                                                 /* its stored answer, or a refusal */
       fi };
     atomic {
       if
       :: st[1] == executing -> if :: move(st[1], executing, succeeded) :: move(st[1], executing, uncertain) :: skip fi
       :: else
       fi }
  :: tries == 4 -> break
  od
}

active proctype Administrator() { byte n; do :: n < 2 -> n++; epoch++ :: break od }

#ifdef BUG_OPEN_ROWS_KEPT
#define ENDED false
#else
#define ENDED true
#endif

inline reopen_asked() {
  st[0] = kept[0]; bound = kept_bound; bound_era = kept_era;
  if
  :: ENDED && st[0] == pending_approval -> move(st[0], pending_approval, expired)
  :: ENDED && st[0] == approved -> move(st[0], approved, expired)
  :: ENDED && st[0] == claimed -> move(st[0], claimed, expired)
  :: ENDED && st[0] == executing -> move(st[0], executing, uncertain)
  :: else
  fi
}

inline reopen_keyed() {
  st[1] = kept[1];
  if :: ENDED && st[1] == executing -> move(st[1], executing, uncertain) :: else fi
}

active proctype Keeper() {
  atomic { kept[0] = st[0]; kept[1] = st[1]; kept_epoch = epoch; kept_bound = bound; kept_era = bound_era; taken = true };
  atomic {
    era = true;
#ifndef BUG_NOT_STOPPED
    stopped = true;
#endif
    reopen_asked(); reopen_keyed();
    lost[0] = (effects[0] > 0 && st[0] == received); lost[1] = (effects[1] > 0 && st[1] == received);
#if defined(BUG_EPOCH_KEPT)
    epoch = kept_epoch
#elif defined(BUG_EPOCH_PLUS_ONE)
    epoch = kept_epoch + 1
#else
    epoch = 9                                                  /* above all that were ever given */
#endif
  };
  atomic { stopped && !lost[0] && !lost[1] -> stopped = false }
}
