; SPDX-License-Identifier: MIT
;
; wavefront.clp - why ranks of a wavefront are not at work: each gets the border of its part from the one before.
;
;   imbalance      one has more to do than others, which wait for what comes from it, or at the end
;   sequential     one works in something that is done once, and others wait for that
;   filling        pieces are large: ranks behind wait for the first one, those before for the last
;   communication  what operations themselves take, beyond waiting for others

; Others have less to do than the longest, and nothing to do while one is alone: that is surely lost to them only if
; they surely wait for it.

(defglobal ?*least* = 2.0) ; percent of all threads' time: less is no finding

(deffunction where (?mostly ?name) (if (eq ?mostly yes) then (str-cat " in " ?name) else (str-cat ", in several regions, most in " ?name ",")))

(defrule ranks
  (stage (number ?i) (thread-name ?who) (region-name ?name) (work-lo ?lo) (work-hi ?hi))
  =>
  (assert (explanation (level 1) (order ?i)
    (text (str-cat "Place " ?i " of the front, " ?name " on " ?who ", works for " (shown ?lo ?hi) " % of the run.")))))

(defrule what-is-lost
  (chain (longest-name ?who) (uneven-lo ?ul) (uneven-hi ?uh) (sequential-lo ?sl) (sequential-hi ?sh) (filling-lo ?fl) (filling-hi ?fh)
         (transfer-lo ?tl) (transfer-hi ?th))
  =>
  (assert (explanation (level 2)
    (text (str-cat "Of all threads' time ranks lose " (shown ?ul ?uh) " % since they have less to do than " ?who ", "
                   (shown ?sl ?sh) " % while one works at what is done once, " (shown ?fl ?fh)
                   " % while the front comes, has passed or stands, and " (shown ?tl ?th) " % while its operations take their time.")))))

(defrule imbalance
  (chain (longest ?t) (longest-name ?who) (more ?r) (more-name ?name) (mostly ?mostly) (by-others ?by) (as-long 1) (uneven-lo ?lo) (uneven-hi ?hi)
         (for-longest-lo ?waited))
  =>
  (assert (finding (cause imbalance) (cost-lo (min ?lo ?waited)) (cost-hi ?hi) (least ?*least*) (site ?r) (thread ?t)
    (what (str-cat ?who " has more to do" (where ?mostly ?name) " than other ranks, which wait for it"
                   (if (eq ?by yes) then ": most of that is waiting for other threads of its process" else "")))
    (suggestion (str-cat "give " ?who " less of it, and others more"))
    (ask (if (and (>= ?r 0) (neq ?by yes)) then yes else no)) (ask-site (if (eq ?mostly yes) then ?r else -1)) (ask-thread ?t))))

; None of several is the slow one.
(defrule imbalance-of-several
  (chain (as-long ?n&:(> ?n 1)) (as-long-names ?who) (as-long-sure ?sure) (uneven-lo ?lo) (uneven-hi ?hi) (for-longest-lo ?waited))
  =>
  (assert (finding (cause imbalance) (cost-lo (min ?lo ?waited)) (cost-hi ?hi) (least ?*least*)
    (what (if (eq ?sure yes) then (str-cat ?who " have as much to do, and more than other ranks, which wait for them")
           else (str-cat "one of " ?who " has most to do, and other ranks wait for it")))
    (suggestion "give them less of it, and others more: to do so with one of them is not enough"))))

(defrule sequential
  (chain (first ?t) (first-name ?who) (first-region ?r&:(>= ?r 0)) (first-region-name ?name) (sequential-lo ?lo) (sequential-hi ?hi)
         (for-first-lo ?waited))
  =>
  (assert (finding (cause sequential) (cost-lo (min ?lo ?waited)) (cost-hi ?hi) (least ?*least*) (site ?r) (thread ?t)
    (what (str-cat "only " ?who " works in " ?name ", once, and others wait for that"))
    (suggestion (str-cat "begin the front before all of " ?name " is done, or share that among ranks"))
    (ask yes) (ask-site ?r) (ask-thread ?t))))

(defrule filling
  (chain (stages ?n) (longest ?t) (longest-name ?who) (region ?r) (region-name ?name) (filling-lo ?lo) (filling-hi ?hi))
  =>
  (assert (finding (cause filling) (cost-lo ?lo) (cost-hi ?hi) (least ?*least*) (site ?r) (thread ?t)
    (what (str-cat "even " ?who ", which works longest, mostly in " ?name ", does not work all of the time: the front comes, has passed or stands"))
    (suggestion (str-cat "make the pieces smaller after which a border is sent: " ?n " ranks wait for the first")))))

(defrule communication
  (chain (longest ?t) (longest-name ?who) (transfer-lo ?lo) (transfer-hi ?hi))
  =>
  (assert (finding (cause communication) (cost-lo ?lo) (cost-hi ?hi) (least ?*least*) (thread ?t)
    (what (str-cat "operations of " ?who ", which has most to do, take that, beyond waiting for others"))
    (suggestion "make the pieces larger after which a border is sent, or send while something else is done"))))
