package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"plumbline.dev/plumbline/internal/cluster"
)

// connectionFlags are kubectl's flags for the cluster and the user, with kubectl's meaning.
func connectionFlags(f *pflag.FlagSet, c *cluster.Options) {
	o := &c.Kube
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "path of the kubeconfig file")
	f.StringVar(&o.Context, "context", "", "context of the kubeconfig to use")
	f.StringVar(&o.Overrides.Cluster, "cluster", "", "cluster of the kubeconfig to use")
	f.StringVar(&o.Overrides.User, "user", "", "user of the kubeconfig to use")
	f.StringVarP(&o.Overrides.Server, "server", "s", "", "address of the API server")
	f.StringVar(&o.Overrides.Token, "token", "", "bearer token for the API server")
	f.StringVar(&o.Overrides.As, "as", "", "user to impersonate")
	f.StringSliceVar(&o.Overrides.AsGroups, "as-group", nil, "group to impersonate")
	o.Timeout = 2 * time.Minute
	f.Var((*seconds)(&o.Timeout), "request-timeout", "how long one request may take, such as 5, 30s or 1m")
}

// seconds is a duration whose unit may be left out, as in kubectl.
type seconds time.Duration

func (s *seconds) String() string { return time.Duration(*s).String() }
func (s *seconds) Type() string   { return "duration" }

func (s *seconds) Set(text string) error {
	d, err := time.ParseDuration(text)
	if n, bare := strconv.Atoi(text); bare == nil {
		d, err = time.Duration(n)*time.Second, nil
	}
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a duration such as 5, 30s or 1m", text)
	}
	*s = seconds(d)
	return nil
}
