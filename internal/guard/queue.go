package guard

// Clean returns what the guard does after an ADD that failed; its record must already be in
// state Failed. The delegate's DEL is called once; a runtime whose own DEL fails too never
// repeats it. So the caller queues the DEL first and removes it from the queue once it has
// succeeded: a kill in between loses nothing. The ADD's error is passed on unchanged.
func Clean(c Call, k Known) Decision {
	switch o := own(&c, &k); {
	case k.Mode != Enforce:
		return Decision{Rule: 2, Says: "the ADD failed"}
	case o == nil || o.Again:
		return Decision{Rule: 2, Says: "the ADD failed, and an earlier ADD of the container may still be in use"}
	}
	c.Verb = Del
	d := del(&c, &k)
	d.Rule, d.Queue, d.Says = 2, true, "the ADD failed: "+d.Says
	return d
}

// Replay returns what the guard does with a DEL from the queue. No runtime waits for it, so
// it is more careful than Decide: it never waits for an ADD, and passes on the DEL of a
// container without a record only if nobody owns the name. It decides as in enforce in
// every mode: the queue holds DELs that enforce has deferred.
func Replay(c Call, k Known) Decision {
	c.Verb, k.Mode = Del, Enforce
	d := del(&c, &k)
	switch {
	case d.Wait > 0:
		return Decision{Rule: d.Rule, Queue: true, Says: d.Says}
	case own(&c, &k) == nil && k.Newest != nil && k.Newest.Container != c.Container:
		return Decision{Rule: 6, Queue: true, Says: "container without an ownership record, and the pod name has an owner"}
	case d.Late:
		d.Queue = true
	}
	d.Again = 0
	return d
}
