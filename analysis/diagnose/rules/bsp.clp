; SPDX-License-Identifier: MIT
;
; bsp.clp - why threads are not at work in a program of supersteps: all work, then come together, again and again.
;
;   imbalance      one thread has more to do than others in the whole run: it is late again and again; or in what it does alone,
;                  instead of what others do meanwhile
;   changing       now one works longer, now another: as long a run of one superstep would lose none of that
;   sequential     one thread does something alone, before, between or behind what all do, and others wait
;   granularity    coming together takes long for as little as is done between, or moved
;   communication  likewise, where much is moved; or what other operations take, beyond waiting
;   lock           threads wait for a lock that others hold
;
; Of what work is uneven it is only proved that it cost what was surely waited where threads come together, where they
; may have waited for others before that, less what they may have done instead, alone, in no region or in other
; operations; or what surely goes back to it, wherever it was waited: at the end of the run in MPI_Finalize, say, which
; need not be left by all together.
;
; In a program with marks, what is done outside of regions is no work for certain. Whoever is last since it does
; something there is found by what waiting goes back to.

(defglobal ?*least* = 2.0)   ; percent of all threads' time: less is no finding
(defglobal ?*small* = 4096)  ; bytes that an operation moves on average: it is no great deal of data

(deffunction seconds (?lo ?hi)
  (if (< ?hi 0.001) then (str-cat (shown (* ?lo 1000000) (* ?hi 1000000)) " us")
   else (if (< ?hi 1) then (str-cat (shown (* ?lo 1000) (* ?hi 1000)) " ms") else (str-cat (shown ?lo ?hi) " s"))))

(deffunction less (?x ?y) (max 0.0 (- ?x ?y)))

; How much surely was waited since a thread was there for longer, and is so in all, not in turn with others; ?locks may
; have been for locks.
(deffunction goes-back-to (?region ?thread ?locks)
  (bind ?surely 0.0)
  (do-for-all-facts ((?d delay)) (and (eq ?d:region ?region) (eq ?d:thread ?thread)) (bind ?surely (max ?surely (min ?d:of-thread-lo ?d:longer-lo))))
  (less ?surely ?locks))

; The same of whoever was.
(deffunction goes-back-of-all (?region ?locks)
  (bind ?surely 0.0)
  (do-for-all-facts ((?d delay)) (eq ?d:region ?region) (bind ?surely (max ?surely ?d:cost-lo)))
  (less ?surely ?locks))

; Where most of something is; if not even half of it is there, it is in many regions, and what less of all work would buy is asked.
(deffunction mostly-in (?mostly ?name)
  (if (eq ?mostly yes) then (str-cat ", mostly in " ?name) else (str-cat ", in many regions, longest in " ?name)))
(deffunction there (?mostly ?name) (if (eq ?mostly yes) then ?name else "those regions"))
(deffunction to-ask (?mostly ?region) (if (eq ?mostly yes) then ?region else -1))

; That is no part of what they are compared by (alone: -1 if there is none).
(deffunction but-alone (?alone) (if (>= ?alone 0) then ", but for what only one thread ever does" else ""))

; Where there are threads that do not come together with these, nothing is said of them.
(deffunction those (?n ?of) (if (= ?n ?of) then (str-cat ?n " threads") else (str-cat ?n " of " ?of " threads")))
(deffunction one-of (?n ?of) (if (= ?n ?of) then "a thread" else "one of these"))
(deffunction most-of (?n ?of) (if (= ?n ?of) then "in all" else (str-cat "of these " ?n " threads")))
(deffunction others-of (?n ?of) (if (= ?n ?of) then "others" else "others that come together with it"))

; ---- How it works, and where time goes -----------------------------------------------------------

(defrule steps
  (supersteps (steps ?steps) (threads ?n) (of ?of) (step-work-lo ?wl) (step-work-hi ?wh)
              (step-transfer-lo ?tl) (step-transfer-hi ?th) (alone ?alone))
  =>
  (assert (explanation (level 1)
    (text (str-cat (those ?n ?of) " work in " ?steps " supersteps: on average " (one-of ?n ?of) " works " (seconds ?wl ?wh)
                   " in one" (but-alone ?alone) ", and coming together takes " (seconds ?tl ?th) " besides waiting.")))))

(defrule waiting
  (supersteps (waiting-lo ?lo) (waiting-hi ?hi) (transfer-lo ?tl) (transfer-hi ?th))
  =>
  (assert (explanation (level 2)
    (text (str-cat "Of all threads' time " (shown ?lo ?hi) " % is waiting for who is last in a superstep, and "
                   (shown ?tl ?th) " % what coming together takes besides.")))))

(defrule other-waiting
  (supersteps (waiting-lo ?lo) (waiting-hi ?hi))
  (run (waiting-lo ?all-lo) (waiting-hi ?all-hi))
  (test (>= (less ?all-lo ?hi) ?*least*))
  =>
  (assert (explanation (level 2) (order 1)
    (text (str-cat "Another " (shown (less ?all-lo ?hi) (less ?all-hi ?lo)) " % is waiting in other operations.")))))

; Where regions do not say who is last, nobody is named.
(defrule who-is-longest
  (supersteps (steps ?steps) (threads ?n) (of ?of) (longest-name ?who) (sure ?sure) (surely ?surely) (possibly ?possibly)
              (waiting-hi ?hi&:(>= ?hi ?*least*)) (alone ?alone))
  (test (or (eq ?sure yes) (> ?surely 0)))
  =>
  (assert (explanation (level 3)
    (text (str-cat ?who (if (eq ?sure yes) then " works most " else " may work most ") (most-of ?n ?of) ", and works longest in " (if (= ?surely ?possibly) then ?surely else (str-cat ?surely " to " ?possibly))
                   " of " ?steps " supersteps" (but-alone ?alone) ".")))))

; ---- Causes --------------------------------------------------------------------------------------

(defrule imbalance
  (supersteps (threads ?n) (of ?of) (longest ?t) (longest-name ?who) (sure ?sure) (longest-region ?r) (longest-region-name ?name)
              (longest-mostly ?mostly) (persistent-lo ?lo) (persistent-hi ?hi) (waiting-lo ?waited) (instead-hi ?instead))
  (run (locks-hi ?locks))
  =>
  (bind ?surely (min ?lo (max (min (less ?lo ?instead) ?waited) (goes-back-to ?r ?t ?locks))))
  (assert (finding (cause imbalance) (sure ?sure) (cost-lo ?surely) (cost-hi ?hi) (least ?*least*)
    (site ?r) (thread ?t)
    (what (str-cat (others-of ?n ?of) " have less to do than " ?who ", superstep for superstep" (mostly-in ?mostly ?name)))
    (suggestion (str-cat "give " ?who " less to do in " (there ?mostly ?name) ", and others more"))
    (ask yes) (ask-site (to-ask ?mostly ?r)) (ask-thread ?t))))

; All others wait meanwhile, at most.
(defrule outside
  (supersteps (threads ?n) (outside unknown) (elsewhere-hi ?elsewhere))
  (delay (region -1) (thread ?t) (thread-name ?who) (outside ?outside) (mostly-in ?in) (mostly-at ?at)
         (cost-hi ?hi))
  =>
  (assert (finding (cause imbalance) (cost-lo 0.0) (cost-hi (min ?hi (* ?elsewhere (- ?n 1)))) (least ?*least*) (thread ?t)
    (what (longest-outside ?who ?in ?at))
    (suggestion (less-outside ?who ?in))
    (ask (if (eq ?outside work) then yes else no)) (ask-thread ?t))))

(defrule changing
  (supersteps (region ?r) (region-name ?name) (mostly ?mostly) (changing-lo ?lo) (changing-hi ?hi) (persistent-hi ?persistent)
              (waiting-lo ?waited) (instead-hi ?instead))
  (run (locks-hi ?locks) (waiting-hi ?all))
  =>
  (bind ?elsewhere (less ?all ?waited))
  (bind ?back (less (goes-back-of-all ?r ?locks) (+ ?persistent ?elsewhere)))
  (assert (finding (cause changing) (cost-lo (min ?lo (max (min (less ?lo ?instead) ?waited) ?back))) (cost-hi ?hi) (least ?*least*) (site ?r)
    (what (str-cat "now one works longer in a superstep, now another" (mostly-in ?mostly ?name)))
    (suggestion "come together less often, in larger supersteps, or deal out work as threads ask for it")
    (ask yes) (ask-site (to-ask ?mostly ?r)))))

(deffunction alone-in (?mostly ?who ?name)
  (if (eq ?mostly yes) then (str-cat "mostly " ?who " in " ?name) else (str-cat "most " ?who (mostly-in ?mostly ?name))))

; Who does something alone instead of what others do meanwhile has more to do: that others could work then is no advice.
(defrule sequential
  (supersteps (alone ?t&:(>= ?t 0)) (alone-name ?who) (alone-region ?r) (alone-region-name ?name) (alone-meanwhile ?instead)
              (alone-mostly ?mostly) (sequential-lo ?lo) (sequential-hi ?hi) (waiting-lo ?waited) (meanwhile-hi ?meanwhile))
  (run (locks-hi ?locks))
  =>
  (bind ?surely (min ?lo (max (min (less ?lo ?meanwhile) ?waited) (goes-back-to ?r ?t ?locks))))
  (bind ?does (if (eq ?mostly yes) then (str-cat ?name " does") else (str-cat ?who " does there")))
  (assert (finding (cause (if (eq ?instead yes) then imbalance else sequential)) (cost-lo ?surely) (cost-hi ?hi) (least ?*least*)
    (site ?r) (thread ?t)
    (what (if (eq ?instead yes) then (str-cat "what others do meanwhile is less than what one does alone, " (alone-in ?mostly ?who ?name))
           else (str-cat "others wait for what one does alone, " (alone-in ?mostly ?who ?name))))
    (suggestion (str-cat "share what " ?does " among threads" (if (eq ?instead yes) then "" else ", or do it while others work")))
    (ask yes) (ask-site (to-ask ?mostly ?r)) (ask-thread ?t))))

(defrule operations-take-time
  (supersteps (threads ?n) (steps ?steps) (step-work-lo ?wl) (step-work-hi ?wh) (step-transfer-lo ?tl) (step-transfer-hi ?th))
  (operation (id ?id) (name ?name) (visits ?visits&:(> ?visits 0)) (bytes ?bytes) (transfer-lo ?lo) (transfer-hi ?hi))
  =>
  (bind ?small (and (< (/ ?bytes ?visits) ?*small*) (>= ?visits (* ?n (/ ?steps 2)))))
  (assert (finding (cause (if ?small then granularity else communication)) (cost-lo ?lo) (cost-hi ?hi) (least ?*least*) (site ?id)
    (what (if ?small then (str-cat ?name " takes that, beyond waiting, for supersteps with " (seconds ?wl ?wh) " of work each")
           else (str-cat ?name " takes that, in " (calls ?visits) ", beyond waiting for others")))
    (suggestion (if ?small then "do more in a superstep, so that there are fewer"
                 else (if (< (/ ?bytes ?visits) ?*small*) then "have fewer of these, or do something else meanwhile: each moves little"
                 else "move less, or move it while something else is done"))))))

(defrule lock
  (contention (region ?r) (name ?name) (thread ?t) (waits-in ?op) (waits-at ?at) (cost-lo ?lo) (cost-hi ?hi))
  =>
  (assert (finding (cause lock) (cost-lo ?lo) (cost-hi ?hi) (least ?*least*) (site ?r) (thread ?t)
    (what (str-cat "threads wait in " ?op (if (eq ?op ?at) then "" else (str-cat " (" ?at ")")) " for a lock that others hold in " ?name))
    (suggestion (str-cat "hold it for less of " ?name ", or have several of these locks"))
    (ask (if (>= ?r 0) then yes else no)) (ask-site ?r))))
