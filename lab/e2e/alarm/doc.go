// Package alarm checks a churning cluster repeatedly: check must report no finding
// without a fault, and every fault in time. It needs the lab and is built with the tag
// e2e.
package alarm
