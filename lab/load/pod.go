package load

import "time"

// Annotations of Calico's plugin, if the datastore is KDD.
const (
	annotationSandbox = "cni.projectcalico.org/containerID"
	annotationIP      = "cni.projectcalico.org/podIP"
	annotationIPs     = "cni.projectcalico.org/podIPs"
)

// storedPod is the pod as the API server stores it; with annotations, if Calico stores
// its endpoint in annotations.
func storedPod(p pod, annotated bool) put {
	return put{"/registry/pods/" + p.namespace + "/" + p.name, stored("Pod", func(m *message) {
		m.meta(p.meta(annotated))
		m.nest(2, func() { m.podSpec(p) })
		m.nest(3, func() { m.podStatus(p) })
	})}
}

func (p pod) meta(annotated bool) meta {
	o := meta{
		name: p.name, generateName: p.name[:len(p.name)-5], namespace: p.namespace, uid: p.uid, generation: 1, created: p.created,
		labels: [][2]string{{"app", p.app.name}, {"app.kubernetes.io/name", p.app.name}, {"pod-template-hash", p.app.hash}},
		owner:  owner{"apps/v1", "ReplicaSet", p.app.replicaSet(), p.app.uid},
	}
	if p.finished {
		job := o.generateName[:len(o.generateName)-1]
		o.labels = [][2]string{{"app", p.app.name}, {"batch.kubernetes.io/job-name", job}, {"job-name", job}}
		o.owner = owner{"batch/v1", "Job", job, p.app.uid}
	}
	o.managed = append(o.managed, managed{"kube-controller-manager", "", controllerFields(p, o), p.created})
	if annotated {
		// After a pod finished, its annotations are empty and the sandbox's ID remains.
		ip := ""
		if p.endpoint {
			ip = p.address.String() + "/32"
		}
		o.annotations = [][2]string{{annotationSandbox, p.sandbox}, {annotationIP, ip}, {annotationIPs, ip}}
		o.managed = append(o.managed, managed{"calico", "status", calicoFields, p.created.Add(time.Second)})
	}
	o.managed = append(o.managed, managed{"kubelet", "status", kubeletFields(p), p.created.Add(2 * time.Second)})
	return o
}

func (m *message) podSpec(p pod) {
	m.nest(1, func() { // an emptyDir
		m.text(1, "cache")
		m.nest(2, func() { m.text(2, "") })
	})
	m.nest(1, func() {
		m.text(1, p.volume)
		m.nest(2, func() { m.nest(26, m.tokenVolume) })
	})
	m.nest(2, func() { m.container(p) })
	if p.finished {
		m.text(3, "Never")
	} else {
		m.text(3, "Always")
	}
	m.number(4, 30) // termination grace period
	m.text(6, "ClusterFirst")
	m.text(8, "default")
	m.text(9, "default")
	m.text(10, p.host.name)
	m.text(14, "") // an empty security context
	m.text(19, "default-scheduler")
	for _, taint := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		m.nest(22, func() {
			m.text(1, taint)
			m.text(2, "Exists")
			m.text(4, "NoExecute")
			m.number(5, 300)
		})
	}
	m.number(25, 0) // priority
	m.number(30, 1) // service links
	m.text(31, "PreemptLowerPriority")
}

// tokenVolume is the projected volume that every pod gets.
func (m *message) tokenVolume() {
	m.nest(1, func() {
		m.nest(4, func() {
			m.number(2, 3607)
			m.text(3, "token")
		})
	})
	m.nest(1, func() {
		m.nest(3, func() {
			m.nest(1, func() { m.text(1, "kube-root-ca.crt") })
			m.entry(2, "ca.crt", "ca.crt")
		})
	})
	m.nest(1, func() {
		m.nest(2, func() {
			m.nest(1, func() {
				m.text(1, "namespace")
				m.entry(2, "v1", "metadata.namespace")
			})
		})
	})
	m.number(2, 0o644)
}

func (m *message) container(p pod) {
	m.text(1, p.app.name)
	m.text(2, p.app.image)
	m.nest(6, func() {
		m.text(1, "http")
		m.number(3, 8080)
		m.text(4, "TCP")
	})
	m.nest(8, m.resources)
	m.nest(9, func() {
		m.text(1, "cache")
		m.text(3, "/var/cache/"+p.app.name)
	})
	m.nest(9, func() {
		m.text(1, p.volume)
		m.number(2, 1)
		m.text(3, tokenPath)
	})
	m.text(13, "/dev/termination-log")
	m.text(14, "IfNotPresent")
	m.text(20, "File")
}

const tokenPath = "/var/run/secrets/kubernetes.io/serviceaccount"

func (m *message) resources() {
	m.quantity(1, "memory", "512Mi")
	m.quantity(2, "cpu", "250m")
	m.quantity(2, "memory", "256Mi")
}

// quantity writes an entry of a map of quantities.
func (m *message) quantity(field int, key, amount string) {
	m.nest(field, func() {
		m.text(1, key)
		m.nest(2, func() { m.text(1, amount) })
	})
}
