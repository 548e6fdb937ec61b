package rtnl

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
)

// Numbers of nf_tables that package unix does not have, or not under these names.
const (
	nfgenSize   = 4 // struct nfgenmsg
	hookArrival = 0
	hookForward = 2
	noHook      = 1 << 31
	maxChains   = 20_000
)

var nftFamilies = map[byte]string{unix.NFPROTO_IPV4: "ip", unix.NFPROTO_IPV6: "ip6", unix.NFPROTO_INET: "inet"}

// OpenFilter opens a socket for the chains of the calling thread's namespace. The kernel answers only
// who has CAP_NET_ADMIN.
func OpenFilter() (*Socket, error) { return open(unix.NETLINK_NETFILTER) }

// Chains returns the chains of forwarded packets, those that change where packets go that arrive, and
// other chains of which is reports true.
func (s *Socket) Chains(ctx context.Context, is func(name string) bool) ([]model.Chain, error) {
	all, err := dump(ctx, s, nft(unix.NFT_MSG_GETCHAIN), make([]byte, nfgenSize), maxChains, func(m Message, rows []model.Chain) ([]model.Chain, error) {
		if m.Type != nft(unix.NFT_MSG_NEWCHAIN) {
			return rows, nil
		}
		c, known, err := parseChain(m.Body)
		if err == nil && known && (c.Hook != "" || is(c.Name)) {
			rows = append(rows, c)
		}
		return rows, err
	})
	if err != nil {
		return all, fmt.Errorf("list the chains of nf_tables: %w", err)
	}
	for i := range all {
		if err := s.rules(ctx, &all[i]); err != nil {
			return all, fmt.Errorf("list the rules of chain %s: %w", all[i].Name, err)
		}
	}
	return all, nil
}

func nft(message int) uint16 { return unix.NFNL_SUBSYS_NFTABLES<<8 | uint16(message) }

func parseChain(b []byte) (c model.Chain, known bool, err error) {
	hook, kind := uint32(noHook), ""
	err = Attrs(b, nfgenSize, func(attr uint16, v []byte) {
		switch attr {
		case unix.NFTA_CHAIN_TABLE:
			c.Table = text(v)
		case unix.NFTA_CHAIN_NAME:
			c.Name = text(v)
		case unix.NFTA_CHAIN_TYPE:
			kind = text(v)
		case unix.NFTA_CHAIN_POLICY:
			c.Policy = map[uint32]string{0: "drop", 1: "accept"}[big(v)]
		case unix.NFTA_CHAIN_HOOK:
			_ = Attrs(v, 0, func(kind uint16, v []byte) {
				switch kind {
				case unix.NFTA_HOOK_HOOKNUM:
					hook = big(v)
				case unix.NFTA_HOOK_PRIORITY:
					c.Priority = int(int32(big(v)))
				default:
				}
			})
		default:
		}
	})
	if err != nil || len(b) == 0 {
		return c, false, err
	}
	switch {
	case hook == hookForward:
		c.Hook = "forward"
	case hook == hookArrival && kind == "nat":
		c.Hook = "prerouting"
	default:
	}
	c.Family, known = nftFamilies[b[0]]
	return c, known, nil
}

// rules reads the rules of a chain. Kernels that do not know the filter by chain return those of the
// whole table: they are filtered here again.
func (s *Socket) rules(ctx context.Context, c *model.Chain) error {
	body := make([]byte, nfgenSize)
	for number, name := range nftFamilies {
		if name == c.Family {
			body[0] = number
		}
	}
	body = put(body, unix.NFTA_RULE_TABLE, append([]byte(c.Table), 0))
	body = put(body, unix.NFTA_RULE_CHAIN, append([]byte(c.Name), 0))
	rows, err := dump(ctx, s, nft(unix.NFT_MSG_GETRULE), body, maxRules, func(m Message, rows []model.ChainRule) ([]model.ChainRule, error) {
		if m.Type != nft(unix.NFT_MSG_NEWRULE) {
			return rows, nil
		}
		chain, r, err := parseChainRule(m.Body)
		if err == nil && chain == c.Name {
			rows = append(rows, r)
		}
		return rows, err
	})
	c.Rules, c.More = rows, len(rows) > model.MaxChainRules
	c.Rules = slices.Clip(c.Rules[:min(len(rows), model.MaxChainRules)])
	if errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("%w: it was deleted meanwhile", ErrPartial)
	}
	return err
}

// maxRules bounds the rules of one chain.
const maxRules = 50_000

func parseChainRule(b []byte) (chain string, r model.ChainRule, err error) {
	err = Attrs(b, nfgenSize, func(kind uint16, v []byte) {
		switch kind {
		case unix.NFTA_RULE_CHAIN:
			chain = text(v)
		case unix.NFTA_RULE_EXPRESSIONS:
			_ = Attrs(v, 0, func(_ uint16, v []byte) { expression(v, &r) })
		default:
		}
	})
	return chain, r, err
}

// expression notes one expression of a rule. One that is not known counts as a condition.
func expression(b []byte, r *model.ChainRule) {
	name, data := "", []byte(nil)
	_ = Attrs(b, 0, func(kind uint16, v []byte) {
		switch kind {
		case unix.NFTA_EXPR_NAME:
			name = text(v)
		case unix.NFTA_EXPR_DATA:
			data = v
		default:
		}
	})
	switch name {
	case "counter", "log":
	case "immediate":
		if does := verdict(data); does != "" {
			r.Does = does
		}
	case "reject":
		r.Does = "reject"
	case "target": // of xtables
		if r.Does = ""; strings.EqualFold(firstText(data), "REJECT") {
			r.Does = "reject"
		} else {
			r.If = true // MARK, NFQUEUE …: it may decide
		}
	case "match": // of xtables
		r.If = r.If || firstText(data) != "comment"
	default:
		r.If = true
	}
}

// firstText is the name of an xtables match or target.
func firstText(b []byte) (out string) {
	_ = Attrs(b, 0, func(kind uint16, v []byte) {
		if kind == 1 { // NFTA_TARGET_NAME, NFTA_MATCH_NAME
			out = text(v)
		}
	})
	return out
}

// verdict is what an immediate expression decides; empty if it only loads a value.
func verdict(b []byte) (does string) {
	_ = Attrs(b, 0, func(kind uint16, v []byte) {
		if kind != unix.NFTA_IMMEDIATE_DATA {
			return
		}
		_ = Attrs(v, 0, func(kind uint16, v []byte) {
			if kind != unix.NFTA_DATA_VERDICT {
				return
			}
			code, chain := int32(0), ""
			_ = Attrs(v, 0, func(kind uint16, v []byte) {
				switch kind {
				case unix.NFTA_VERDICT_CODE:
					code = int32(big(v))
				case unix.NFTA_VERDICT_CHAIN:
					chain = " " + text(v)
				default:
				}
			})
			switch code {
			case 0:
				does = "drop"
			case 1:
				does = "accept"
			case unix.NFT_JUMP:
				does = "jump" + chain
			case unix.NFT_GOTO:
				does = "goto" + chain
			case unix.NFT_RETURN:
				does = "return"
			default:
			}
		})
	})
	return does
}

// big reads a value of four bytes in network order; a shorter one is zero.
func big(v []byte) uint32 {
	if len(v) < 4 {
		return 0
	}
	return binary.BigEndian.Uint32(v)
}
