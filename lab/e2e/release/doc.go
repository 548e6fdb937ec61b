// Package release installs what a release consists of, as users do: from archives, a krew manifest and a registry.
package release
