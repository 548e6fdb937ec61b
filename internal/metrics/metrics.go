// Package metrics serves numbers to Prometheus. It alone knows Prometheus' client library.
package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// A Metric is what numbers are of. No label may have a value for each pod or address: there may be a
// hundred thousand of them.
type Metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

// NewGauge returns a metric that goes up and down.
func NewGauge(name, help string, labels ...string) *Metric {
	return &Metric{prometheus.NewDesc("plumbline_"+name, help, labels, nil), prometheus.GaugeValue}
}

// NewCounter returns a metric that only goes up, until what counts starts again.
func NewCounter(name, help string, labels ...string) *Metric {
	return &Metric{prometheus.NewDesc("plumbline_"+name, help, labels, nil), prometheus.CounterValue}
}

// A Number is the value of a metric, for the values of its labels.
type Number struct {
	*Metric
	Value  float64
	Labels []string
}

// Is returns a number of the metric.
func (m *Metric) Is(value float64, labels ...string) Number { return Number{m, value, labels} }

// At returns a time as Prometheus counts it.
func (m *Metric) At(t time.Time, labels ...string) Number {
	return m.Is(float64(t.UnixNano())/1e9, labels...)
}

// A Histogram counts how long something took.
type Histogram struct{ prometheus.Histogram }

// NewHistogram returns one for seconds.
func NewHistogram(name, help string, buckets ...float64) *Histogram {
	return &Histogram{prometheus.NewHistogram(prometheus.HistogramOpts{Name: "plumbline_" + name, Help: help, Buckets: buckets})}
}

// Took counts one more.
func (h *Histogram) Took(d time.Duration) { h.Observe(d.Seconds()) }

// numbers are asked for at each scrape, all at once: a scrape never sees half of a change.
type numbers func() []Number

// Describe describes nothing: which metrics there are is known when they are asked for.
func (numbers) Describe(chan<- *prometheus.Desc) {}

// Collect gives the numbers.
func (n numbers) Collect(out chan<- prometheus.Metric) {
	for _, v := range n() {
		m, err := prometheus.NewConstMetric(v.desc, v.kind, v.Value, v.Labels...)
		if err != nil {
			m = prometheus.NewInvalidMetric(v.desc, err)
		}
		out <- m
	}
}

// Handler serves the numbers, the histograms, and those of the process.
func Handler(now func() []Number, histograms ...*Histogram) http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(numbers(now), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, h := range histograms {
		r.MustRegister(h)
	}
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}
