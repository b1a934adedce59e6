; SPDX-License-Identifier: MIT
;
; task-pool.clp - why threads are not at work that take tasks out of a pool, one after the other: each takes a lock, or
; waits for a condition, and then does what it has found.
;
;   lock           they wait for a lock that others hold
;   starvation     they wait for who puts tasks there, if that is what it does: it may be who takes what they have done, too
;   finalization   a worker is done, and another is not
;   sequential     they wait before the first task begins, or when all are done
;   granularity    tasks are so short that what it takes to get one is the price of having many
;
; That is only proved of waits that somebody ended who does no tasks: workers may wait for each other's results, too.

(defglobal ?*least* = 2.0)        ; percent of all threads' time: less is no finding
(defglobal ?*significant* = 5.0)  ; percent of a worker's time
(defglobal ?*coarse* = 30)        ; what takes so many times what it takes to get a task is no small thing

; ---- The worker that is least efficient ----------------------------------------------------------

(defrule least-efficient
  (metric (worker ?w&:(>= ?w 0)) (worker-name ?name) (name comp) (share-lo ?lo) (share-hi ?hi))
  (not (metric (worker ?other&:(>= ?other 0)&~?w) (name comp)
               (share-lo ?l&:(or (< ?l ?lo) (and (= ?l ?lo) (< ?other ?w))))))
  =>
  (assert (least ?w))
  (assert (explanation (level 1)
    (text (str-cat "The least efficient worker is " ?name ": it works in regions for " (shown ?lo ?hi) " % of its time.")))))

(defrule significant
  (least ?w)
  (metric (worker ?w) (name ?metric&comm|wait) (share-lo ?lo&:(>= ?lo ?*significant*)) (share-hi ?hi) (lost-lo ?ll) (lost-hi ?lh))
  =>
  (assert (significant ?w ?metric))
  (assert (explanation (level 2) (order (- 0 ?hi))
    (text (str-cat (if (eq ?metric wait) then "Waiting" else "What taking tasks takes besides waiting") " is significant: " (shown ?lo ?hi)
                   " % of its time, " (shown ?ll ?lh) " % of what is lost.")))))

(deffunction reason-of (?metric)
  (switch ?metric
    (case lock then "for locks")
    (case starved then "for something else while others do tasks")
    (case finalization then "for the others, when it has done its last task")
    (default "before the first task begins, or when all are done")))

(defrule waits-for
  (least ?w)
  (significant ?w wait)
  (metric (worker ?w) (name ?metric&lock|starved|finalization|seq) (lost-lo ?lo) (lost-hi ?hi&:(>= ?hi 1.0)))
  =>
  (assert (explanation (level 3) (order (- 0 ?hi))
    (text (str-cat "Of its lost time " (shown ?lo ?hi) " % is waiting " (reason-of ?metric) ".")))))

; ---- Causes --------------------------------------------------------------------------------------

(defrule lock
  (contention (region ?r) (name ?name) (thread ?t) (waits-in ?op) (waits-at ?at) (cost-lo ?lo) (cost-hi ?hi))
  =>
  (assert (finding (cause lock) (cost-lo ?lo) (cost-hi ?hi) (least ?*least*) (site ?r) (thread ?t)
    (what (str-cat "threads wait in " ?op (if (eq ?op ?at) then "" else (str-cat " (" ?at ")")) " for a lock that others hold in " ?name))
    (suggestion (str-cat "hold it for less of " ?name ", take several tasks at once, or have a pool for each worker"))
    (ask (if (>= ?r 0) then yes else no)) (ask-site ?r))))

(defrule starvation
  (pool (feeder ?feeder) (fed-lo ?fed))
  (metric (worker -1) (name starved) (share-lo ?lo) (share-hi ?hi) (region ?r) (region-name ?name) (thread-name ?who))
  =>
  (assert (finding (cause starvation) (cost-lo (min ?lo ?fed)) (cost-hi ?hi) (least ?*least*) (site ?r) (thread ?feeder)
    (what (if (< ?feeder 0) then "workers wait while others do tasks" else
           (str-cat "workers wait for " ?who ", mostly in " ?name ": for tasks, or until it takes what they have done")))
    (suggestion (if (< ?feeder 0) then "see for whom they wait then: dprof-analyze waits" else (str-cat "make " ?name " shorter, or let several threads do it")))
    (ask (if (>= ?r 0) then yes else no)) (ask-site ?r) (ask-thread ?feeder))))

(defrule finalization
  (metric (worker -1) (name finalization) (share-lo ?lo) (share-hi ?hi) (region ?r) (region-name ?name) (thread ?t) (thread-name ?who))
  =>
  (assert (finding (cause finalization) (cost-lo ?lo) (cost-hi ?hi) (least ?*least*) (site ?r) (thread ?t)
    (what (str-cat "workers that are done wait while others do their last tasks; the last is " ?who ", in " ?name))
    (suggestion "do the largest tasks first, and small ones at the end")
    (ask yes) (ask-site ?r) (ask-thread ?t))))

(defrule sequential
  (metric (worker -1) (name seq) (share-lo ?lo) (share-hi ?hi))
  =>
  (assert (finding (cause sequential) (cost-lo ?lo) (cost-hi ?hi) (least ?*least*)
    (what "workers wait before the first task begins, or when all are done")
    (suggestion "begin with tasks before all are known, or have workers do parts of what is done then"))))

; That tasks are too small for that is a judgement, which no bound proves.
(defrule granularity
  (pool (tasks ?n) (region ?r) (task-lo ?tl) (task-hi ?th) (take-lo ?kl) (take-hi ?kh) (taking-lo ?lo) (taking-hi ?hi))
  (test (< ?th (* ?*coarse* ?kl)))
  =>
  (assert (finding (cause granularity) (cost-lo ?lo) (cost-hi ?hi) (least ?*least*) (sure no) (site ?r)
    (what (str-cat "tasks are small: one takes " (shown (* 1e6 ?tl) (* 1e6 ?th)) " us, and to get it " (shown (* 1e6 ?kl) (* 1e6 ?kh))
                   " us besides waiting"))
    (suggestion "take several at once, or make larger ones"))))
