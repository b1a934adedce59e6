; SPDX-License-Identifier: MIT
;
; facts.clp - what rules are given, and what they answer. It is loaded before every other file of rules.
;
; A share is in percent of all threads' time (their number times the run's span) unless it says otherwise. Whatever is
; known only within bounds has two slots, NAME-lo and NAME-hi, and the truth lies between them.
; (shown LO HI [DECIMALS]) is the text of such an interval.

; ---- Given ---------------------------------------------------------------------------------------

(deftemplate run
  (slot threads) (slot processes)            ; with events
  (slot seconds-lo) (slot seconds-hi)        ; its span
  (slot work-lo) (slot work-hi)              ; all that no operation took
  (slot waiting-lo) (slot waiting-hi)        ; in operations, for others
  (slot transfer-lo) (slot transfer-hi)      ; what operations took besides
  (slot locks-lo) (slot locks-hi)            ; of the waiting: for locks,
  (slot joins-lo) (slot joins-hi))           ; and for ends of threads and processes

(deftemplate region                          ; in which threads worked; regions of one name are one
  (slot id) (slot name) (slot at)            ; at: file:line, of a long name without its middle
  (slot threads) (slot visits)               ; how many were in it, how often
  (slot work-lo) (slot work-hi)              ; of all of them, there and in what it encloses
  (slot longest) (slot longest-name)         ; the thread that worked there longest
  (slot most-lo) (slot most-hi)              ; how long that one did, in percent of the run,
  (slot mean-lo) (slot mean-hi))             ; and how long a thread did on average

(deftemplate operation                       ; in which others take part
  (slot id) (slot name) (slot at) (slot visits) (slot bytes)
  (slot due)                                 ; yes: every process has to call it, once; or no
  (slot waiting-lo) (slot waiting-hi)
  (slot transfer-lo) (slot transfer-hi))

(deftemplate delay                           ; waiting of whatever threads that goes back to a place having been longer
  (slot region) (slot name) (slot at)        ; of which region or operation (id; -1: outside of regions)
  (slot operation)                           ; yes, no
  (slot thread) (slot thread-name)           ; whose share of it is the greatest
  (slot of-thread-lo) (slot of-thread-hi)    ; that share
  (slot outside)                             ; work, unknown: what that thread does outside of regions, unknown if its
                                             ; process has marks
  (slot mostly-in) (slot mostly-at)          ; outside of regions: file input or output, or a sleep, which took half of
                                             ; its time there; or ""
  (slot excess-lo) (slot excess-hi)          ; for how long threads worked there beyond the mean of others that did, for each other
                                             ; thread; each no more than it was waited for there, and surely so much less as it
                                             ; may have waited there itself
  (slot longest) (slot longest-name)         ; whose share of that is the greatest
  (slot longer-lo) (slot longer-hi)          ; of that: what is of `thread`
  (slot kind) (slot waits-in) (slot waits-at) ; the longest wait for that place: its kind, in which operation, and where
  (slot cost-lo) (slot cost-hi))             ; all waiting that goes back to it

(deftemplate contention                      ; waiting for locks, by what those did who held them: slots as of delay
  (slot region) (slot name) (slot at) (slot operation) (slot thread) (slot thread-name) (slot outside) (slot mostly-in)
  (slot mostly-at)
  (slot of-thread-lo) (slot of-thread-hi) (slot excess-lo) (slot excess-hi) (slot longest) (slot longest-name)
  (slot longer-lo) (slot longer-hi) (slot kind) (slot waits-in) (slot waits-at) (slot cost-lo) (slot cost-hi))

; Of regions and operations that by themselves cost less than 2 % each: all that they cost together.
(deftemplate little
  (slot of)                                  ; delay, contention
  (slot places)                              ; how many
  (slot alone-lo) (slot alone-hi)            ; of the cost: that of regions in which only one thread works
  (slot thread) (slot thread-name)           ; whose share of it is the greatest, and that share, at least
  (slot of-thread-lo) (slot of-thread-hi)
  (slot cost-lo) (slot cost-hi))

(deftemplate little-operations               ; what operations took besides waiting
  (slot places) (slot visits) (slot bytes)
  (slot transfer-lo) (slot transfer-hi))

; ---- Answered ------------------------------------------------------------------------------------

; A cause of lost time. It is one if it may have cost `least` or more, and proved if it surely did (cost-lo) and what the
; rule stands on besides is sure. What it would buy is asked of coz, if there is a site to ask about: had ask-site (id; -1:
; all work) taken ask-percent less, on ask-thread (id; -1: on all).
(deftemplate finding
  (slot cause) (slot cost-lo) (slot cost-hi) (slot least (default 2.0)) (slot sure (default yes))
  (slot site (default -1)) (slot thread (default -1)) ; where it is, and on which thread (id; -1: on none of its own)
  (slot what) (slot suggestion)                       ; in plain words
  (slot ask (default no)) (slot ask-site (default -1)) (slot ask-thread (default -1)) (slot ask-percent (default 50)))

; How one comes to that, level by level, and in a level by order, and then by text.
(deftemplate explanation (slot level) (slot order (default 0)) (slot text))

; ---- Given of a program with a master and workers ------------------------------------------------

(deftemplate master-worker
  (slot master) (slot master-name) (slot workers) (slot tasks)
  (slot last) (slot last-name)               ; the worker that was done last
  (slot task-lo) (slot task-hi)              ; in seconds, of the task in the middle: how long it took,
  (slot service-lo) (slot service-hi)        ; what the master did for one between its messages,
  (slot message-lo) (slot message-hi)        ; and what these took
  (slot apart-lo) (slot apart-hi)            ; of workers' waiting before and behind all tasks (seq), and of that
  (slot between-lo) (slot between-hi)        ; in between (bottleneck): so long the master works meanwhile;
  (slot last-alone-lo) (slot last-alone-hi)  ; of what they wait for the last of them (finalization): while the master does not work
  (slot serves)                              ; region in which the master mostly serves (id; -1: outside of regions)
  (slot serves-name))

; Of each worker, and of all together (worker -1; shares are then of all threads' time), each of: init comp comm final, and
; of the waiting: seq setup bottleneck finalization, and all of that: wait.
(deftemplate metric
  (slot worker) (slot worker-name) (slot name)
  (slot share-lo) (slot share-hi)            ; in percent of its time
  (slot lost-lo) (slot lost-hi)              ; in percent of what of its time was lost: all but comp
  (slot region) (slot region-name)           ; where what causes it happens (id; -1: outside of regions), and ...
  (slot thread) (slot thread-name))          ; ... on which thread

; ---- Given of a pipeline or a wavefront -----------------------------------------------------------

(deftemplate stage                           ; in the order in which things go through them, from 1 on
  (slot number) (slot thread) (slot thread-name) (slot region) (slot region-name)
  (slot work-lo) (slot work-hi))             ; in percent of the run

; What of the stages' time is not work of the chain, as chain.h divides it: all shares are of all threads' time.
(deftemplate chain
  (slot stages) (slot longest) (slot longest-name) (slot region) (slot region-name) ; the stage with most work, and where
  (slot more) (slot more-name)               ; where it has most more to do than others: what only one stage does is to others what
                                             ; only they do;
  (slot mostly)                              ; yes: half of what it has more to do is there, or more; or no
  (slot by-others)                           ; yes: half of its work, or more, is what it waits for threads of its process; or no
  (slot as-long) (slot as-long-names)        ; how many stages have as much, to 2 % of the run, and which: "rank 1 in a
                                             ; and rank 2 in b"
  (slot as-long-sure)                        ; yes: they surely have, no: some may have less
  (slot first) (slot first-name) (slot first-region) (slot first-region-name) ; who has most sequential work, and where
  (slot uneven-lo) (slot uneven-hi) (slot sequential-lo) (slot sequential-hi)
  (slot for-longest-lo) (slot for-longest-hi) ; waiting that goes back to stages that are as long as any, but for what
                                              ; is sequential,
  (slot for-first-lo) (slot for-first-hi)    ; and to what is sequential of the first
  (slot transfer-lo) (slot transfer-hi)
  (slot filling-lo) (slot filling-hi))       ; less, at least, what may have been waited for threads that are no stages

; ---- Given of divide and conquer ------------------------------------------------------------------

(deftemplate phase
  (slot region) (slot is)                    ; a region is where threads divide, solve or combine
  (slot apart-lo) (slot apart-hi)            ; how long they are there before they have to do with the problem
  (slot meanwhile-lo) (slot meanwhile-hi))   ; if only one thread is ever in it: for how long others work meanwhile

; ---- Given of a program of supersteps -------------------------------------------------------------

; As bsp.h divides it: shares are of all threads' time.
(deftemplate supersteps
  (slot steps) (slot threads) (slot of)      ; how many, of how many threads, of so many of the run or part
  (slot operation)                           ; in which these come together most often
  (slot outside)                             ; work, unknown: what is done outside of regions, unknown if some of them
                                             ; mark their work
  (slot elsewhere-lo) (slot elsewhere-hi)    ; how long all were in no region and no operation, or not there
  (slot longest) (slot longest-name)         ; the one of these threads that works most in all
  (slot sure) (slot surely) (slot possibly)  ; yes: it does; in so many steps it works longest
  (slot longest-region) (slot longest-region-name) ; where it has most more to do than the mean of all
  (slot longest-mostly)                      ; yes: half of that is there, or more; or no
  (slot region) (slot region-name) (slot mostly) ; where those that work longest in a superstep have most more than that one
                                             ; has there; likewise
  (slot alone) (slot alone-name)             ; who does most in regions of its own; -1: nobody
  (slot alone-region) (slot alone-region-name) (slot alone-mostly) ; in which one most; likewise
  (slot alone-meanwhile)                     ; yes: that is instead of what others do meanwhile; or no
  (slot persistent-lo) (slot persistent-hi) (slot changing-lo) (slot changing-hi)
  (slot sequential-lo) (slot sequential-hi)
  (slot waiting-lo) (slot waiting-hi) (slot transfer-lo) (slot transfer-hi) ; of the operations in which they come together
  (slot instead-lo) (slot instead-hi)        ; so much less of persistent and changing is surely lost, for what threads
                                             ; may do more than others that is no such work
  (slot meanwhile-lo) (slot meanwhile-hi)    ; and of sequential, for what others may do then
  (slot step-work-lo) (slot step-work-hi)    ; in seconds, of one thread in one superstep on average: its work
  (slot step-transfer-lo) (slot step-transfer-hi)) ; and what it takes to come together, beyond waiting

; ---- Given of threads that take tasks out of a pool -----------------------------------------------

; And metric, as above, of each worker and of all: comp lock starved finalization seq comm, wait and life (task_pool.h).
(deftemplate pool
  (slot workers) (slot tasks) (slot region) (slot region-name) ; in which tasks are done
  (slot feeder)                              ; the thread, no worker, for which workers mostly wait; -1: none
  (slot fed-lo) (slot fed-hi)                ; waiting of workers for conditions, which such threads ended while the pool was open
  (slot task-lo) (slot task-hi)              ; in seconds, of one task on average: work in that region,
  (slot take-lo) (slot take-hi)              ; and what it takes to get it, besides waiting;
  (slot taking-lo) (slot taking-hi))         ; and of all, in percent of all threads' time

; ---- What several files of rules say -------------------------------------------------------------

(deffunction calls (?n) (str-cat ?n (if (= ?n 1) then " call" else " calls")))

; Of a delay outside of regions; what is known of that is at most which file input or output, or sleep, mostly takes its time.
(deffunction longest-outside (?who ?in ?at)
  (str-cat "others wait for who is longest outside of regions, " ?who " most"
    (if (eq ?in "") then "" else (str-cat ", mostly in " ?in (if (eq ?in ?at) then "" else (str-cat " (" ?at ")"))))
    "; threads may take turns in that"))
(deffunction less-outside (?who ?in)
  (if (eq ?in "") then (str-cat "mark what " ?who " does there as a region, to see what it is")
   else (str-cat "make " ?in " shorter, share it among threads, or let others work meanwhile")))
