; SPDX-License-Identifier: MIT
;
; divide-conquer.clp - why threads of a tree are not at work, which hand parts of their work down and get results back.
;
;   sequential     one thread does something once, before it divides anything, or when all is combined, and others wait for that;
;                  it is not sure if some may have worked meanwhile
;   divide         others wait while threads divide
;   combine        others wait while threads combine
;   uneven         some parts take longer to solve, and others wait for those: what is proved is at most what a thread
;                  solves longer than the mean of others
;   communication  what an operation itself takes, beyond waiting for others
;
; What waiting goes back to may be a lock that was held: so of what is proved, all waiting for locks is taken off.

(defglobal ?*least* = 2.0) ; percent of all threads' time: less is no finding

(deffunction less (?x ?y) (max 0.0 (- ?x ?y)))

(defrule phases
  (phase (region ?r) (is ?phase))
  (region (id ?r) (name ?name) (threads ?n) (work-lo ?lo) (work-hi ?hi))
  =>
  (assert (explanation (level 1) (order (switch ?phase (case divide then 1) (case solve then 2) (default 3)))
    (text (str-cat ?name " (" ?phase "): " ?n " threads, " (shown ?lo ?hi) " % of all threads' time.")))))

(defrule what-is-lost
  (run (waiting-lo ?al) (waiting-hi ?ah) (transfer-lo ?tl) (transfer-hi ?th))
  =>
  (assert (explanation (level 2)
    (text (str-cat "Of all threads' time " (shown ?al ?ah) " % is waiting for others, and " (shown ?tl ?th)
                   " % what operations took besides.")))))

(deffunction cause-of (?phase ?threads ?visits)
  (if (eq ?phase solve) then uneven
   else (if (and (= ?threads 1) (= ?visits 1)) then sequential else ?phase)))

(deffunction what-of (?cause ?phase ?name ?who ?sure)
  (switch ?cause
    (case uneven then (if ?sure then (str-cat "parts take longer to solve in " ?name " that others wait for, " ?who "'s most")
                       else (str-cat "others wait while parts are solved in " ?name ", for " ?who " most")))
    (case sequential then (if ?sure then (str-cat "only " ?who " works in " ?name ", once, "
                                   (if (eq ?phase combine) then "when others have nothing more to do" else "before others have anything to do"))
                           else (str-cat "only " ?who " works in " ?name ", once, and some wait for that while others may work")))
    (default (str-cat "others wait while " ?who " is in " ?name))))

(deffunction suggestion-of (?cause ?phase ?name)
  (switch ?cause
    (case uneven then "divide by how long parts take, or into more of them than there are threads")
    (case sequential then (str-cat "do " ?name " in parallel, part by part where it " (if (eq ?phase combine) then "comes from" else "is needed")))
    (case divide then (str-cat "make " ?name " shorter at the root: hand parts on before all is divided"))
    (default (str-cat "make " ?name " shorter at the root, or do it in parallel"))))

; No thread waits for longer for what is done there than that takes, though delays, which are shared out by how long each place was,
; may say so.
(defrule delayed
  (run (threads ?all) (locks-hi ?locks))
  (phase (region ?r) (is ?phase) (meanwhile-hi ?meanwhile) (apart-hi ?apart))
  (region (id ?r) (threads ?n) (visits ?visits) (work-lo ?wl) (work-hi ?wh))
  (delay (region ?r) (name ?name) (thread ?blamed) (thread-name ?blamed-name) (cost-lo ?lo) (cost-hi ?hi) (excess-lo ?excess)
         (longest ?longest) (longest-name ?longest-name))
  =>
  (bind ?cause (cause-of ?phase ?n ?visits))
  (bind ?longer (and (eq ?cause uneven) (>= ?excess ?*least*)))
  (bind ?t (if ?longer then ?longest else ?blamed))
  (bind ?who (if ?longer then ?longest-name else ?blamed-name))
  (bind ?sure (switch ?cause (case uneven then (>= ?excess ?*least*)) (case sequential then (< ?meanwhile ?*least*)) (default TRUE)))
  (bind ?others (- ?all 1))
  (bind ?proved (if (eq ?cause uneven) then (min ?lo ?excess) else (min ?lo (* ?wl ?others))))
  (assert (finding (cause ?cause) (sure (if ?sure then yes else no)) (cost-lo (less ?proved (+ ?locks (* ?apart ?others)))) (cost-hi (min ?hi (* ?wh ?others)))
    (least ?*least*) (site ?r) (thread ?t)
    (what (what-of ?cause ?phase ?name ?who ?sure)) (suggestion (suggestion-of ?cause ?phase ?name)) (ask yes) (ask-site ?r) (ask-thread ?t))))

(defrule communication
  (operation (id ?id) (name ?name) (visits ?visits) (transfer-lo ?lo) (transfer-hi ?hi))
  =>
  (assert (finding (cause communication) (cost-lo ?lo) (cost-hi ?hi) (least ?*least*) (site ?id)
    (what (str-cat ?name " itself takes that, in " (calls ?visits) ", beyond waiting for others"))
    (suggestion "hand on less, or send it while something else is done"))))
