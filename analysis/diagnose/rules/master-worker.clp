; SPDX-License-Identifier: MIT
;
; master-worker.clp - why workers are not at work in a program that has a master who deals out tasks to whoever asks.
;
; The inference tree is that of Figure 4 of L. Li and A. D. Malony, Model-Based Performance Diagnosis of Master-Worker Parallel
; Computations: a worker's efficiency is low; so something else than its tasks takes a significant part of its time; if that
; is waiting, then for the master before and behind all tasks, for its task being set up, for the master being busy, or for
; the last worker.
;
;   sequential     the master works before it deals out anything, or when all tasks are done
;   setup          the master sets up the task that a worker waits for
;   bottleneck     the master is busy with requests, others' or its own, or with tasks of its own
;   finalization   a worker is done, and another is not
;   communication  messages between master and workers
;   init           what workers do before their first task, if they could have done tasks meanwhile
;   final          what they do behind their last task, likewise
;   granularity    tasks, and what the master does for one, are so short that all of it is the price of having many tasks

(defglobal ?*least* = 2.0)        ; percent of all threads' time: less is no finding
(defglobal ?*significant* = 5.0)  ; percent of a worker's time
(defglobal ?*coarse* = 30)        ; what takes so many times what messages of a task take is no small thing

; ---- Level 1: the worker that is least efficient -------------------------------------------------

(defrule least-efficient
  (metric (worker ?w&:(>= ?w 0)) (worker-name ?name) (name comp) (share-lo ?lo) (share-hi ?hi))
  (not (metric (worker ?other&:(>= ?other 0)&~?w) (name comp)
               (share-lo ?l&:(or (< ?l ?lo) (and (= ?l ?lo) (< ?other ?w))))))
  =>
  (assert (least ?w))
  (assert (explanation (level 1)
    (text (str-cat "The least efficient worker is " ?name ": " (shown ?lo ?hi) " % of its time are tasks.")))))

; ---- Level 2: what else takes its time -----------------------------------------------------------

(deffunction words-of (?metric)
  (switch ?metric
    (case init then "What it does before its first task")
    (case comm then "What it does between tasks, and messages,")
    (case final then "What it does behind its last task")
    (case wait then "Waiting")))

(defrule significant
  (least ?w)
  (metric (worker ?w) (name ?metric&init|comm|final|wait) (share-lo ?lo&:(>= ?lo ?*significant*)) (share-hi ?hi)
          (lost-lo ?ll) (lost-hi ?lh))
  =>
  (assert (significant ?w ?metric))
  (assert (explanation (level 2) (order (- 0 ?hi))
    (text (str-cat (words-of ?metric) " is significant: " (shown ?lo ?hi) " % of its time, " (shown ?ll ?lh)
                   " % of what is lost.")))))

; ---- Level 3: what it waits for ------------------------------------------------------------------

; Where there is none, whoever it is did not work then.
(deffunction there (?how ?region) (if (eq ?region "none") then "" else (str-cat ?how ?region)))

(deffunction reason-of (?metric ?region ?thread)
  (switch ?metric
    (case seq then (if (eq ?region "none") then (str-cat "before or behind all tasks, when " ?thread " does not work itself")
                    else (str-cat "for what " ?thread " does before or behind all tasks, mostly in " ?region)))
    (case setup then (str-cat "for " ?thread " to set up its next task" (there ", in " ?region)))
    (case bottleneck then (str-cat "for " ?thread " being busy" (there ", mostly in " ?region)))
    (case finalization then (str-cat "for the last to be done (" ?thread " at the end)"))))

(defrule waits-for
  (least ?w)
  (significant ?w wait)
  (metric (worker ?w) (name ?metric&seq|setup|bottleneck|finalization) (lost-lo ?lo) (lost-hi ?hi&:(>= ?hi 1.0))
          (region-name ?region) (thread-name ?thread))
  =>
  (assert (explanation (level 3) (order (- 0 ?hi))
    (text (str-cat "Of its lost time " (shown ?lo ?hi) " % is waiting " (reason-of ?metric ?region ?thread) ".")))))

; ---- Causes --------------------------------------------------------------------------------------

; Workers wait then, but not all of that is for the master: messages are under way, or it has nothing to do itself. What is proved
; is for how long it surely worked while they waited.
(defrule sequential
  (master-worker (apart-lo ?worked))
  (metric (worker -1) (name seq) (share-lo ?lo) (share-hi ?hi) (region ?r) (region-name ?name) (thread ?t) (thread-name ?who))
  =>
  (assert (finding (cause sequential) (cost-lo (min ?lo ?worked)) (cost-hi ?hi) (least ?*least*) (site ?r) (thread ?t)
    (what (if (eq ?name "none") then (str-cat "workers wait before or behind all tasks, when " ?who " does not work itself")
           else (str-cat "workers wait for what " ?who " does before or behind all tasks, mostly in " ?name)))
    (suggestion (if (eq ?name "none") then "see for whom they wait then: dprof-analyze waits"
                 else (str-cat "deal out tasks before all of " ?name " is done, or have workers do parts of it")))
    (ask (if (>= ?r 0) then yes else no)) (ask-site ?r) (ask-thread ?t))))

(defrule setup
  (metric (worker -1) (name setup) (share-lo ?lo) (share-hi ?hi) (region ?r) (region-name ?name) (thread ?t) (thread-name ?who))
  =>
  (assert (finding (cause setup) (cost-lo ?lo) (cost-hi ?hi) (least ?*least*) (site ?r) (thread ?t)
    (what (str-cat "workers wait while " ?who " sets up their next task" (there " in " ?name)))
    (suggestion "set up tasks before they are asked for, several at once, or let workers do it")
    (ask (if (>= ?r 0) then yes else no)) (ask-site ?r) (ask-thread ?t))))

(defrule bottleneck
  (metric (worker -1) (name bottleneck) (share-lo ?lo) (share-hi ?hi) (region ?r) (region-name ?name) (thread ?t) (thread-name ?who))
  (master-worker (workers ?n) (task-lo ?task) (service-hi ?service) (serves ?serves) (between-lo ?worked))
  =>
  (bind ?fed (if (and (> ?service 0.0) (eq ?serves ?r)) then (integer (min ?n (+ 1 (/ ?task ?service)))) else ?n))
  (assert (finding (cause bottleneck) (cost-lo (min ?lo ?worked)) (cost-hi ?hi) (least ?*least*) (site ?r) (thread ?t)
    (what (str-cat "workers wait while " ?who " is busy" (there ", mostly in " ?name)))
    (suggestion (str-cat (if (eq ?name "none") then "" else (str-cat "make " ?name " shorter, ")) "deal out larger tasks"
                         (if (< ?fed ?n) then (str-cat ", or have fewer workers: it can keep some " ?fed " of " ?n " busy")
                          else ", or have another master")))
    (ask (if (>= ?r 0) then yes else no)) (ask-site ?r) (ask-thread ?t))))

; The last worker is not what they wait for as long as the master works on: what is proved is while it does not.
(defrule finalization
  (master-worker (last-alone-lo ?alone))
  (metric (worker -1) (name finalization) (share-lo ?lo) (share-hi ?hi) (region ?r) (region-name ?name) (thread ?t) (thread-name ?who))
  =>
  (assert (finding (cause finalization) (cost-lo (min ?lo ?alone)) (cost-hi ?hi) (least ?*least*) (site ?r) (thread ?t)
    (what (str-cat "workers that are done wait for the last (" ?who " at the end)" (there ", in " ?name)))
    (suggestion "deal out the largest tasks first, and small ones at the end")
    (ask (if (>= ?r 0) then yes else no)) (ask-site ?r) (ask-thread ?t))))

(defrule communication
  (metric (worker -1) (name comm) (share-lo ?lo) (share-hi ?hi) (region ?r))
  =>
  (assert (finding (cause communication) (cost-lo ?lo) (cost-hi ?hi) (least ?*least*) (site ?r)
    (what "messages between master and workers take that, and what workers do between tasks")
    (suggestion "send less with a task, or ask for the next one before the last is done"))))

; Whether anything is lost by that is not proved: workers may have to do it, and while they do the master may have no task.
(deffunction other-than-tasks (?when ?who ?name)
  (str-cat "what workers do " ?when " is no task: most " ?who (there ", mostly in " ?name)))

(defrule init
  (metric (worker -1) (name init) (share-hi ?hi) (region ?r) (region-name ?name) (thread ?t) (thread-name ?who))
  =>
  (assert (finding (cause init) (cost-lo 0.0) (cost-hi ?hi) (least ?*least*) (sure no) (site ?r) (thread ?t)
    (what (other-than-tasks "before their first task" ?who ?name))
    (suggestion "make that shorter, share it among workers, or let them do tasks before all of it is done")
    (ask (if (>= ?r 0) then yes else no)) (ask-site ?r) (ask-thread ?t))))

(defrule final
  (metric (worker -1) (name final) (share-hi ?hi) (region ?r) (region-name ?name) (thread ?t) (thread-name ?who))
  =>
  (assert (finding (cause final) (cost-lo 0.0) (cost-hi ?hi) (least ?*least*) (sure no) (site ?r) (thread ?t)
    (what (other-than-tasks "behind their last task" ?who ?name))
    (suggestion "make that shorter, share it among workers, or do it while others do their last tasks")
    (ask (if (>= ?r 0) then yes else no)) (ask-site ?r) (ask-thread ?t))))

; All that small tasks cost besides. That they are too small for that is a judgement, which no bound proves.
(defrule granularity
  (master-worker (task-lo ?tl) (task-hi ?th) (service-lo ?sl) (service-hi ?sh) (message-lo ?ml) (message-hi ?mh) (serves ?r)
                 (master ?t))
  (test (and (< ?th (* ?*coarse* ?ml)) (< ?sh (* ?*coarse* ?ml))))
  (metric (worker -1) (name comm) (share-lo ?cl) (share-hi ?ch))
  (metric (worker -1) (name setup) (share-lo ?ul) (share-hi ?uh))
  (metric (worker -1) (name bottleneck) (share-lo ?bl) (share-hi ?bh))
  =>
  (assert (finding (cause granularity) (cost-lo (+ ?cl ?ul ?bl)) (cost-hi (min 100.0 (+ ?ch ?uh ?bh))) (least ?*least*)
    (sure no) (site ?r) (thread ?t)
    (what (str-cat "tasks are small: one takes " (shown (* 1e6 ?tl) (* 1e6 ?th)) " us, what the master does for it "
                   (shown (* 1e6 ?sl) (* 1e6 ?sh)) " us, and its messages " (shown (* 1e6 ?ml) (* 1e6 ?mh)) " us"))
    (suggestion "deal out several at once"))))
