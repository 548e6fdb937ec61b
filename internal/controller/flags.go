package controller

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/buildinfo"
	"plumbline.dev/plumbline/internal/logformat"
)

// Flags reads the command line and the environment of the controller's pod.
func Flags(args []string, getenv func(string) string, stderr io.Writer) (Options, error) {
	var o Options
	f := flag.NewFlagSet("plumbline-controller", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.Cluster.Kube.Kubeconfig, "kubeconfig", "", "file; empty: the cluster that it runs in")
	f.StringVar(&o.Cluster.Kube.Context, "context", "", "context of the kubeconfig")
	f.StringVar(&o.Namespace, "namespace", getenv("POD_NAMESPACE"), "namespace of its Lease")
	f.StringVar(&o.Pod, "name", getenv("POD_NAME"), "its own name: unique among its replicas")
	f.StringVar(&o.Listen, "probes", ":8081", "address on which it answers /healthz, /readyz and /metrics; empty: none")
	f.StringVar(&o.Serve, "serve", ":9479", "address on which it serves all findings to whom the API server allows to get them; empty: none")
	f.BoolVar(&o.UI, "ui", false, "serve the UI there too; it keeps the last judgement in memory")
	f.StringVar(&o.Cluster.StateDir, "state-dir", "", "directory for unconfirmed findings; empty: they are forgotten when it ends")
	f.StringVar(&o.Cluster.Datastore, "datastore", "auto", "of Calico: auto, kdd or etcd")
	endpoints := f.String("etcd-endpoints", "", "of Calico's etcd, separated by commas")
	f.StringVar(&o.Cluster.Etcd.CACert, "etcd-cacert", "", "file with the authority of etcd's certificate")
	f.StringVar(&o.Cluster.Etcd.Cert, "etcd-cert", "", "file with a certificate for etcd")
	f.StringVar(&o.Cluster.Etcd.Key, "etcd-key", "", "file with its key")
	f.DurationVar(&o.Settle, "settle", 0, "how long a difference must last to be confirmed; 0: as its code says")
	var format logformat.Format
	logformat.Var(f, &format)
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.Cluster.Direct = true
	o.Cluster.Kube.Timeout, o.Cluster.Version = 2*time.Minute, buildinfo.Read().Version
	if *endpoints != "" {
		o.Cluster.Etcd.Endpoints = strings.Split(*endpoints, ",")
	}
	o.Log = format.Logger(stderr)
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if o.Namespace == "" || o.Pod == "" {
		return o, errors.New("--namespace and --name are needed (POD_NAMESPACE, POD_NAME)")
	}
	return o, nil
}
