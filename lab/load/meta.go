package load

import "time"

// meta has the fields of an object's metadata that are used here.
type meta struct {
	name, generateName, namespace, uid string
	generation                         uint64
	created                            time.Time
	labels, annotations                [][2]string
	owner                              owner
	managed                            []managed
}

// An owner is the controller of an object.
type owner struct{ apiVersion, kind, name, uid string }

// managed is an entry of managedFields.
type managed struct {
	manager, subresource, fields string
	at                           time.Time
}

func (m *message) meta(o meta) {
	m.nest(1, func() {
		m.text(1, o.name)
		if o.generateName != "" {
			m.text(2, o.generateName)
		}
		m.text(3, o.namespace)
		m.text(5, o.uid)
		m.number(7, o.generation)
		m.time(8, o.created)
		for _, l := range o.labels {
			m.entry(11, l[0], l[1])
		}
		for _, a := range o.annotations {
			m.entry(12, a[0], a[1])
		}
		if o.owner.kind != "" {
			m.owner(o.owner)
		}
		for _, f := range o.managed {
			m.managed(f)
		}
	})
}

func (m *message) owner(o owner) {
	m.nest(13, func() {
		m.text(1, o.kind)
		m.text(3, o.name)
		m.text(4, o.uid)
		m.text(5, o.apiVersion)
		m.number(6, 1)
		m.number(7, 1)
	})
}

func (m *message) managed(f managed) {
	m.nest(17, func() {
		m.text(1, f.manager)
		m.text(2, "Update")
		m.text(3, "v1")
		m.time(4, f.at)
		m.text(6, "FieldsV1")
		m.nest(7, func() { m.text(1, f.fields) })
		m.text(8, f.subresource)
	})
}

// stored is a core object as the API server stores it: a magic number, then an envelope
// with its type.
func stored(kind string, fill func(*message)) []byte {
	m := make(message, 0, 4096)
	m = append(m, "k8s\x00"...)
	m.nest(1, func() {
		m.text(1, "v1")
		m.text(2, kind)
	})
	m.nest(2, func() { fill(&m) })
	return m
}

// storedNamespace is an active namespace.
func storedNamespace(name, uid string, created time.Time) put {
	fields := `{"f:metadata":{"f:labels":{".":{},"f:kubernetes.io/metadata.name":{}}}}`
	return put{"/registry/namespaces/" + name, stored("Namespace", func(m *message) {
		m.meta(meta{
			name: name, uid: uid, created: created, labels: [][2]string{{"kubernetes.io/metadata.name", name}},
			managed: []managed{{manager: "kubectl-create", at: created, fields: fields}},
		})
		m.nest(2, func() { m.text(1, "kubernetes") })
		m.nest(3, func() { m.text(1, "Active") })
	})}
}
