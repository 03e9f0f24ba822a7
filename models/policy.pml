/* Rules change while calls wait. Two gateways keep the rules in their own memory and may be behind. An administrator
   loads rules 1, then 2 (which forbid the call), then 1 again. An approval binds the version that it was given under;
   the version is the rules with an epoch that only grows. */
#include "table.pml"

mtype st = received;
byte rules = 1, epoch = 1;   /* in the store */
byte changes;
byte bound_rules, bound_epoch, bound_changes;

proctype Gateway(byte id) {
  byte mine, mine_epoch, mine_changes;
  atomic { mine = rules; mine_epoch = epoch; mine_changes = changes };
  do
  :: atomic { mine = rules; mine_epoch = epoch; mine_changes = changes }               /* told of a change, at some time or never */
  :: atomic { st == received && mine == 1 -> bound_rules = mine; bound_epoch = mine_epoch;
       bound_changes = mine_changes; move(st, received, pending_approval) }
  :: atomic { st == pending_approval -> move(st, pending_approval, approved) }
  :: atomic { st == approved -> move(st, approved, claimed) } break
  :: OVER(st) || st == executing -> goto done
  od;
  atomic {
    if
#ifdef BUG_MEMORY_DECIDES
    :: bound_rules == mine && bound_epoch == mine_epoch ->
#else
#ifdef BUG_VERSION_WITHOUT_EPOCH
    :: bound_rules == rules ->
#else
    :: bound_rules == rules && bound_epoch == epoch ->
#endif
#endif
       move(st, claimed, executing);
       assert(rules == 1);                                     /* rules 2 forbid it */
       assert(bound_changes == changes)                        /* nothing moved since the people were asked */
    :: else -> move(st, claimed, denied)
    fi };
done: skip
}

active proctype Administrator() {
  do
  :: changes < 3 -> atomic { rules = 3 - rules; changes++;
#ifdef BUG_EPOCH_COMES_BACK
       epoch = rules
#else
       epoch++
#endif
     }
  :: break
  od
}

init { atomic { run Gateway(0); run Gateway(1) } }
