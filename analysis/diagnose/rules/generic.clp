; SPDX-License-Identifier: MIT
;
; generic.clp - causes of lost time in any parallel program.
;
;   sequential      only one thread works in a region, and others wait for that; or several work in it, one after the other
;   imbalance       several work in a region, one of them longer, and others wait for that one; or they take turns in that
;   lock            threads wait for a lock that others hold
;   communication   what an operation itself takes, beyond waiting; and others' waiting meanwhile
;   granularity     likewise, where little is moved, but often
;
; Where many places cost less than a finding each, together they are one.
;
; What waiting goes back to may be a lock that was held: so of what other causes are proved to cost, all waiting for locks is
; taken off.

(defglobal ?*least* = 2.0)   ; percent of all threads' time: less is no finding
(defglobal ?*small* = 4096)  ; bytes that an operation moves on average: it is no great deal of data
(defglobal ?*often* = 10)    ; calls of each thread

(defglobal ?*alone* = 1.1)   ; threads that work at a time, on average: then there is hardly a time when several do

(deffunction less (?x ?y) (max 0.0 (- ?x ?y)))

; ?work of all time is work: so many threads work at a time. Whoever waits does so for one that works, or for what an
; operation takes.
(deffunction at-a-time (?threads ?work) (/ (* ?threads ?work) 100))

; At any time somebody works, or an operation takes its time: for as long as these are together more than one thread, no more,
; several do so at once. In a region they come one after the other if that is little of what is done there. Nor is it then that one
; of them does nearly all.
(deffunction in-turn (?threads ?busy ?there ?excess ?cost)
  (and (<= (- ?busy (/ 100 ?threads)) (* (- ?*alone* 1) ?there)) (< ?excess (/ ?cost 2))))

; ", longest in MPI_Recv (app.c:12)", of the longest of some waits; or "".
(deffunction longest-in (?operation ?at)
  (if (eq ?operation "") then "" else (str-cat ", longest in " ?operation (if (eq ?operation ?at) then "" else (str-cat " (" ?at ")")))))

; ---- Level 1: how the time was spent -------------------------------------------------------------

(defrule how-time-was-spent
  (run (threads ?n) (work-lo ?wl) (work-hi ?wh) (waiting-lo ?al) (waiting-hi ?ah)
       (transfer-lo ?tl) (transfer-hi ?th))
  (test (or (> ?n 1) (>= (+ ?ah ?th) ?*least*)))
  =>
  (assert (explanation (level 1)
    (text (str-cat "Of the time of " (if (> ?n 1) then (str-cat ?n " threads ") else "the only thread that is recorded ") (shown ?wl ?wh) " % was work, " (shown ?al ?ah)
                   " % waiting for others, and " (shown ?tl ?th) " % what operations took besides.")))))

(defrule one-thread
  (run (threads 1) (waiting-hi ?ah) (transfer-hi ?th))
  (test (< (+ ?ah ?th) ?*least*))
  =>
  (assert (explanation (level 1) (text (if (> (+ ?ah ?th) 0.05) then "Only one thread is recorded: it hardly waited."
                                           else "Only one thread is recorded: it waited for none.")))))

; ---- Level 2: which of these is significant ------------------------------------------------------

(defrule waiting-is-significant
  (run (threads ?n&:(> ?n 1)) (waiting-lo ?lo&:(>= ?lo ?*least*)) (locks-lo ?ll) (locks-hi ?lh))
  =>
  (assert (explanation (level 2)
    (text (str-cat "Waiting is significant" (if (> ?lh 0.05) then (str-cat "; " (shown ?ll ?lh) " % is for locks")
                                             else "; none of it is for locks") ".")))))

(defrule transfer-is-significant
  (run (transfer-lo ?lo&:(>= ?lo ?*least*)))
  =>
  (assert (explanation (level 2) (text "What operations themselves took is significant."))))

(defrule one-at-a-time
  (run (threads ?n&:(> ?n 1)) (work-lo ?lo) (work-hi ?hi&:(<= (at-a-time ?n ?hi) ?*alone*)) (waiting-lo ?waits&:(>= ?waits ?*least*)))
  =>
  (assert (explanation (level 2) (order 1)
    (text (str-cat "On average " (shown (at-a-time ?n ?lo) (at-a-time ?n ?hi)) " of " ?n " threads work at a time.")))))

; ---- Level 3: what it comes of -------------------------------------------------------------------

; No thread waits for longer for what is done there than that takes, though delays, which are shared out by how long each place was,
; may say so.
(defrule sequential
  (run (threads ?n&:(> ?n 1)) (locks-hi ?locks))
  (delay (region ?r&:(>= ?r 0)) (operation no) (name ?name) (thread ?t) (thread-name ?who) (waits-in ?op) (waits-at ?at)
         (cost-lo ?lo) (cost-hi ?hi))
  (region (id ?r) (threads 1) (work-lo ?wl) (work-hi ?wh))
  =>
  (bind ?others (- ?n 1))
  (assert (finding (cause sequential) (cost-lo (min (less ?lo ?locks) (* ?wl ?others))) (cost-hi (min ?hi (* ?wh ?others))) (least ?*least*)
    (site ?r) (thread ?t)
    (what (str-cat "only " ?who " works in " ?name ", and others wait for that" (longest-in ?op ?at)))
    (suggestion (str-cat "share what " ?name " does among threads, make it shorter, or let others work meanwhile"))
    (ask yes) (ask-site ?r) (ask-thread ?t))))

; Whoever only waits for threads to end (a join) waits for no less if these take turns in being longest, or all are as long. So of
; what goes back to such turns nothing is a join but what threads may surely have been longer in all.
(deffunction not-joined (?cost ?waiting ?joins ?excess) (min ?cost (+ (less ?waiting ?joins) ?excess)))

; That others wait for a thread that is the last proves no imbalance: they may take turns in that. What is proved is at
; most what they could wait less if that thread was there for no longer than the mean of the others.
; Or they come one after the other, unless they are there for longer, together, than the run is.
(deffunction in-turns (?threads ?there) (if (<= ?there (/ 100 ?threads)) then ", or work there one after the other" else ""))
(deffunction longer-in (?name ?who ?excess-lo ?excess-hi ?threads ?there)
  (if (>= ?excess-lo ?*least*) then (str-cat "who works in " ?name " takes longer than others that wait then, " ?who " most")
   else (if (< ?excess-hi ?*least*) then (str-cat "threads take turns in being longest in " ?name (in-turns ?threads ?there) ", " ?who " most")
   else (str-cat "others wait for who is longest in " ?name ", " ?who " most; threads may take turns in that" (in-turns ?threads ?there)))))

(defrule one-after-the-other
  (run (threads ?n&:(> ?n 1)) (work-hi ?work) (transfer-hi ?took) (locks-hi ?locks))
  (delay (region ?r&:(>= ?r 0)) (operation no) (name ?name) (cost-lo ?lo) (cost-hi ?hi) (excess-hi ?eh))
  (region (id ?r) (threads ?several&:(> ?several 1)) (work-lo ?there))
  (test (in-turn ?n (+ ?work ?took) ?there ?eh ?lo))
  =>
  (assert (finding (cause sequential) (cost-lo (min (less ?lo ?locks) (* ?there (- ?n 1)))) (cost-hi ?hi) (least ?*least*) (site ?r)
    (what (str-cat ?several " threads work in " ?name ", but one after the other: others wait meanwhile"))
    (suggestion (str-cat "let several do " ?name " at the same time: have each wait for less of what others do, or begin before they are done"))
    (ask yes) (ask-site ?r))))

(defrule imbalance
  (run (threads ?n&:(> ?n 1)) (waiting-hi ?waits) (joins-lo ?joins) (work-hi ?work) (transfer-hi ?took) (locks-hi ?locks))
  (delay (region ?r&:(>= ?r 0)) (operation no) (name ?name) (thread ?blamed) (thread-name ?blamed-name) (cost-lo ?lo) (cost-hi ?hi)
         (excess-lo ?el) (excess-hi ?eh) (longest ?longest) (longest-name ?longest-name))
  (region (id ?r) (threads ?several&:(> ?several 1)) (work-lo ?there))
  (test (or (>= ?el ?*least*) (not (in-turn ?n (+ ?work ?took) ?there ?eh ?lo))))
  =>
  (bind ?longer (>= ?el ?*least*))
  (bind ?t (if ?longer then ?longest else ?blamed))
  (bind ?who (if ?longer then ?longest-name else ?blamed-name))
  (bind ?most (if ?longer then ?hi else (not-joined ?hi ?waits ?joins ?eh)))
  (assert (finding (cause imbalance) (cost-lo (min ?el (less ?lo ?locks))) (cost-hi ?most) (least ?*least*) (site ?r) (thread ?t)
    (what (longer-in ?name ?who ?el ?eh ?n ?there))
    (suggestion (if ?longer then (str-cat "give " ?who " less to do in " ?name ", and those that wait more")
                 else (str-cat "have all take as long in " ?name " each time, "
                               (if (eq (in-turns ?n ?there) "") then "" else "let several do it at the same time, ") "or come together less often")))
    (ask yes) (ask-site ?r) (ask-thread (if ?longer then ?t else -1)))))

(defrule imbalance-outside
  (run (threads ?n&:(> ?n 1)) (locks-hi ?locks))
  (delay (region -1) (thread ?t) (thread-name ?who) (outside ?outside) (mostly-in ?in) (mostly-at ?at)
         (cost-lo ?lo) (cost-hi ?hi) (excess-lo ?el))
  =>
  (assert (finding (cause imbalance) (cost-lo (min ?el (less ?lo ?locks))) (cost-hi ?hi) (least ?*least*) (thread ?t)
    (what (longest-outside ?who ?in ?at))
    (suggestion (less-outside ?who ?in))
    (ask (if (eq ?outside work) then yes else no)) (ask-thread ?t))))

(defrule lock
  (contention (region ?r) (name ?name) (thread ?t) (waits-in ?op) (waits-at ?at) (cost-lo ?lo) (cost-hi ?hi))
  =>
  (assert (finding (cause lock) (cost-lo ?lo) (cost-hi ?hi) (least ?*least*) (site ?r) (thread ?t)
    (what (str-cat "threads wait in " ?op (if (eq ?op ?at) then "" else (str-cat " (" ?at ")")) " for a lock that others hold in " ?name))
    (suggestion (str-cat "hold it for less of " ?name ", or have several of these locks"))
    (ask (if (>= ?r 0) then yes else no)) (ask-site ?r))))

(deffunction little-moved (?threads ?visits ?bytes) (and (< (/ ?bytes ?visits) ?*small*) (>= ?visits (* ?threads ?*often*))))

; What every process has to call, once, nobody can do otherwise.
(defglobal ?*due* = "none: every process has to call it, once; it is a smaller part of a longer run")

(deffunction little-each (?visits ?bytes) (and (> ?bytes 0) (> ?visits 0) (< (/ ?bytes ?visits) ?*small*)))

; Of a barrier, a join or a lock nothing is moved; and of a few bytes there is no less to move.
(deffunction move-otherwise (?due ?small ?visits ?bytes)
  (if (eq ?due yes) then ?*due* else
  (if (and (not ?small) (little-each ?visits ?bytes)) then "have fewer of these, or do something else meanwhile: each moves little" else
  (if ?small then "do more between two of them, or several at once: each moves little"
   else (if (> ?bytes 0) then "move less, or move it while something else is done"
   else "have fewer of these, or do something else meanwhile: no data are moved there that are counted")))))

; Of the only thread that is recorded it may all be waiting for others.
(defrule operations-take-time
  (run (threads ?n))
  (operation (id ?id) (name ?name) (visits ?visits&:(> ?visits 0)) (bytes ?bytes) (due ?due) (transfer-lo ?lo) (transfer-hi ?hi))
  =>
  (bind ?small (little-moved ?n ?visits ?bytes))
  (assert (finding (cause (if ?small then granularity else communication)) (sure (if (> ?n 1) then yes else no))
    (cost-lo ?lo) (cost-hi ?hi) (least ?*least*) (site ?id)
    (what (if (> ?n 1) then (str-cat ?name " itself takes that, in " (calls ?visits) ", beyond waiting for others")
           else (str-cat ?name " takes that, in " (calls ?visits) ": by itself, or for others that are not recorded")))
    (suggestion (if (> ?n 1) then (move-otherwise ?due ?small ?visits ?bytes) else "record whom it may wait for there, too")))))

; It may have waited there for something that is not in the trace: what others waited meanwhile is proved by what the
; operation surely took.
(defrule others-wait-for-an-operation
  (run (threads ?n&:(> ?n 1)) (locks-hi ?locks))
  (delay (region ?r) (operation yes) (name ?name) (thread ?t) (thread-name ?who) (waits-in ?op) (waits-at ?at) (cost-lo ?lo) (cost-hi ?hi))
  (operation (id ?r) (visits ?visits) (bytes ?bytes) (due ?due) (transfer-lo ?took))
  =>
  (assert (finding (cause communication) (cost-lo (min (less ?lo ?locks) (* ?took (- ?n 1)))) (cost-hi ?hi) (least ?*least*) (site ?r) (thread ?t)
    (what (str-cat "others wait while " ?name " itself takes long, mostly that of " ?who (longest-in ?op ?at)))
    (suggestion (move-otherwise ?due FALSE ?visits ?bytes)))))

; ---- Many of which none costs enough -------------------------------------------------------------

(deffunction waits-for (?alone ?who ?places)
  (str-cat "others wait for " (if ?alone then "what one does alone" else "who is longest") ", mostly " ?who ", in " ?places
           " places, none of which costs much by itself"))

(defrule little-delays
  (run (threads ?n&:(> ?n 1)) (locks-hi ?locks))
  (little (of delay) (places ?places&:(> ?places 1)) (alone-lo ?al) (thread ?t) (thread-name ?who) (of-thread-lo ?most) (cost-hi ?hi))
  =>
  (bind ?alone (> ?al (/ ?hi 2)))
  (bind ?mostly (> ?most (/ ?hi 2)))
  (assert (finding (cause (if ?alone then sequential else imbalance)) (sure (if ?alone then yes else no)) (cost-lo (less ?al ?locks))
    (cost-hi ?hi) (least ?*least*) (thread (if ?mostly then ?t else -1)) (what (waits-for ?alone ?who ?places))
    (suggestion "mark a region around those that belong together, to see which part of the program that is")
    (ask yes) (ask-thread (if ?mostly then ?t else -1)))))

(defrule little-locks
  (little (of contention) (places ?places&:(> ?places 1)) (cost-lo ?lo) (cost-hi ?hi))
  =>
  (assert (finding (cause lock) (cost-lo ?lo) (cost-hi ?hi) (least ?*least*)
    (what (str-cat "threads wait for locks that others hold in one of " ?places " places, none of which costs much by itself"))
    (suggestion "hold locks for less, or have more of them: see waits"))))

(defrule little-operations-take-time
  (run (threads ?n&:(> ?n 1)))
  (little-operations (places ?places&:(> ?places 1)) (visits ?visits&:(> ?visits 0)) (bytes ?bytes) (transfer-lo ?lo) (transfer-hi ?hi))
  =>
  (bind ?small (little-moved ?n ?visits ?bytes))
  (assert (finding (cause (if ?small then granularity else communication)) (cost-lo ?lo) (cost-hi ?hi) (least ?*least*)
    (what (str-cat ?places " operations themselves take that, in " (calls ?visits) ", beyond waiting for others; none of them much by itself"))
    (suggestion (move-otherwise no ?small ?visits ?bytes)))))
