// Package ui has the tests of plumbline ui on a lab.
package ui
