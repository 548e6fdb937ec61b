package guard

// Clean says what becomes of an ADD that failed, given its record with that state. The
// delegate's DEL is called once; if the runtime's own fails as well, it never comes
// again. So whoever cleans writes it into the queue first and takes it out when it has
// succeeded: a kill in between loses nothing. The ADD's error is passed on unchanged.
func Clean(c Call, k Known) Decision {
	switch o := own(&c, &k); {
	case k.Mode != Enforce:
		return Decision{Rule: 2, Says: "its ADD failed"}
	case o == nil || o.Again:
		return Decision{Rule: 2, Says: "its ADD failed, and it may have been added before"}
	}
	c.Verb = Del
	d := del(&c, &k)
	d.Rule, d.Queue, d.Says = 2, true, "its ADD failed: "+d.Says
	return d
}

// Replay says what becomes of a DEL from the queue. It is the guard's own deed and
// nobody waits for it, so it is more careful than Decide: it does not wait for anyone,
// and an unknown container is passed on only if nobody has the name. It is decided as in
// enforce in any mode: the queue holds what enforce has promised.
func Replay(c Call, k Known) Decision {
	c.Verb, k.Mode = Del, Enforce
	d := del(&c, &k)
	switch {
	case d.Wait > 0:
		return Decision{Rule: d.Rule, Queue: true, Says: d.Says}
	case own(&c, &k) == nil && k.Newest != nil && k.Newest.Container != c.Container:
		return Decision{Rule: 6, Queue: true, Says: "an unknown container, and the name has an owner"}
	case d.Late:
		d.Queue = true
	}
	d.Again = 0
	return d
}
