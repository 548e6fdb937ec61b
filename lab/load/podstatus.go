package load

import "time"

func (m *message) podStatus(p pod) {
	up := p.created.Add(2 * time.Second)
	ready, why := "True", ""
	if p.finished {
		ready, why = "False", "PodCompleted"
		m.text(1, "Succeeded")
	} else {
		m.text(1, "Running")
	}
	m.podCondition("PodReadyToStartContainers", ready, "", up)
	m.podCondition("Initialized", "True", why, p.created)
	m.podCondition("Ready", ready, why, up)
	m.podCondition("ContainersReady", ready, why, up)
	m.podCondition("PodScheduled", "True", "", p.created)
	m.text(5, p.host.address.String())
	m.text(6, p.address.String())
	m.time(7, p.created)
	m.nest(8, func() { m.containerStatus(p, up) })
	m.text(9, "Burstable")
	m.nest(12, func() { m.text(1, p.address.String()) })
	m.nest(16, func() { m.text(1, p.host.address.String()) })
	m.number(17, 1)
}

func (m *message) podCondition(kind, status, reason string, since time.Time) {
	m.nest(2, func() {
		m.text(1, kind)
		m.text(2, status)
		m.text(3, "") // never probed
		m.time(4, since)
		m.text(5, reason)
		m.number(7, 1)
	})
}

func (m *message) containerStatus(p pod, up time.Time) {
	id := "containerd://" + p.container
	m.text(1, p.app.name)
	m.nest(2, func() {
		if !p.finished {
			m.nest(2, func() { m.time(1, up) })
			return
		}
		m.nest(3, func() {
			m.text(3, "Completed")
			m.time(5, up)
			m.time(6, up.Add(5*time.Minute))
			m.text(7, id)
		})
	})
	m.text(3, "") // no previous state
	if !p.finished {
		m.number(4, 1) // ready
		m.number(9, 1) // started
	} else {
		m.number(9, 0)
	}
	m.text(6, p.app.image)
	m.text(7, p.app.digest)
	m.text(8, id)
	m.quantity(10, "cpu", "250m")
	m.quantity(10, "memory", "256Mi")
	m.nest(11, m.resources)
	m.entry(12, "cache", "/var/cache/"+p.app.name)
	m.nest(12, func() {
		m.text(1, p.volume)
		m.text(2, tokenPath)
		m.number(3, 1)
		m.text(4, "Disabled")
	})
}
