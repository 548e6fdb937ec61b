package kernel

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

func readFirewall(ctx context.Context, o Options, f *model.NodeState) error {
	loaded, err := nfTablesLoaded(o.Proc + "/modules")
	if err != nil {
		return err
	}
	if !loaded {
		return errors.New("the kernel has not loaded nf_tables, and asking would load it: rules of iptables-legacy are not read")
	}
	s, err := rtnl.OpenFilter()
	if err != nil {
		return err
	}
	defer s.Close()
	f.Firewall, err = s.Chains(ctx, func(name string) bool { return strings.HasSuffix(name, model.FelixForward) })
	switch {
	case errors.Is(err, unix.EPERM):
		return errors.New("without CAP_NET_ADMIN (the chart's values repair and readFirewall give it to agents) the kernel shows no firewall rules")
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EINVAL) && len(f.Firewall) == 0:
		return fmt.Errorf("this kernel has no nf_tables: %w", err)
	case err != nil:
		return err
	}
	for family, file := range map[string]string{"ip": "/1/net/ip_tables_names", "ip6": "/1/net/ip6_tables_names"} {
		tables, err := legacyTables(o.Proc + file)
		if err != nil {
			return err
		}
		for _, t := range tables {
			f.Firewall = append(f.Firewall, model.Chain{Family: family, Table: t, Legacy: true})
		}
	}
	return nil
}

// nfTablesLoaded reports whether the kernel has nf_tables already, as a module or, where it has no
// modules at all, built in. To ask for chains would load the module.
func nfTablesLoaded(modules string) (bool, error) {
	b, err := os.ReadFile(modules)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("read the modules: %w", err)
	}
	return len(b) == 0 || strings.HasPrefix(string(b), "nf_tables ") || strings.Contains(string(b), "\nnf_tables "), nil
}

// legacyTables are the tables of iptables-legacy, of those that are judged.
func legacyTables(file string) (out []string, err error) {
	r, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the tables of iptables-legacy: %w", err)
	}
	defer r.Close()
	lines := bufio.NewScanner(io.LimitReader(r, 64<<10))
	for lines.Scan() {
		if t := lines.Text(); t == "filter" || t == "nat" {
			out = append(out, t)
		}
	}
	return out, lines.Err()
}
