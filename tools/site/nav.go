package main

// A section of the site, in the order of what a reader wants: to learn, to do, to look up, to understand.
type section struct {
	Title string
	Pages []string // below the root of the repository, or all of a directory
}

var nav = []section{
	{"Start", []string{"README.md", "docs/tutorial.md", "docs/faq.md"}},
	{"On call", []string{"docs/incidents.md", "docs/check.md", "docs/repair.md", "docs/timeline.md", "docs/ui.md", "docs/issues.md"}},
	{"Run it", []string{"docs/install.md", "docs/agent.md", "docs/guard.md", "docs/controller.md", "docs/monitoring.md", "docs/ci.md"}},
	{"Reference", []string{"docs/cli.md", "docs/chart.md", "docs/crds.md", "docs/rbac.md", "docs/support.md", "docs/formats.md", "docs/glossary.md", "docs/policy.md", "CHANGELOG.md"}},
	{"Codes", []string{"docs/codes/"}},
	{"Understand", []string{"docs/comparison.md", "docs/threat-model.md", "SECURITY.md", "docs/performance.md", "docs/scale.md", "docs/bugs.md", "docs/writeups.md"}},
	{"Contribute", []string{"docs/index.md", "CONTRIBUTING.md", "GOVERNANCE.md", "CODE_OF_CONDUCT.md", "docs/architecture.md", "docs/lab.md"}},
	{"Decisions", []string{"docs/adr/"}},
}

// folded sections show their pages only where one of them is open.
var folded = map[string]bool{"Codes": true, "Decisions": true}
