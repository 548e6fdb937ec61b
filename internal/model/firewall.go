package model

// A Chain is a chain of nf_tables, which iptables-nft uses too: one that the kernel passes forwarded
// packets through, or Felix's, to which these lead, or one that changes where packets go that arrive.
type Chain struct {
	Node     string      `json:"-"`
	Family   string      `json:"family"` // ip, ip6 or inet
	Table    string      `json:"table"`
	Name     string      `json:"name,omitempty"`
	Hook     string      `json:"hook,omitempty"` // forward, or prerouting of type nat; empty: only other chains lead to it
	Priority int         `json:"priority,omitempty"`
	Policy   string      `json:"policy,omitempty"` // accept or drop, of a chain with a hook
	Rules    []ChainRule `json:"rules,omitempty"`  // in order, at most MaxChainRules
	More     bool        `json:"more,omitempty"`   // it has more rules
	Legacy   bool        `json:"legacy,omitempty"` // a table of iptables-legacy, whose chains are not read
	Since    Time        `json:"since,omitzero"`
	Extra    Extra       `json:"-"`
}

// FelixForward ends the names of Felix's chains of forwarded packets: cali-FORWARD in iptables,
// filter-cali-FORWARD in its own table of nf_tables.
const FelixForward = "cali-FORWARD"

// MaxChainRules is how many rules of a chain are read.
const MaxChainRules = 64

// A ChainRule is a rule of a chain.
type ChainRule struct {
	If   bool   `json:"if,omitempty"`   // it has conditions
	Does string `json:"does,omitempty"` // accept, drop, reject, return, jump CHAIN, goto CHAIN; empty: something that decides nothing
}

// ChainsOn returns the chains of a node: a few.
func (v *View) ChainsOn(node string) []Chain {
	v.touched[Firewall] = true
	return v.stateOf(node).Firewall
}
