// Package bench measures the lab. It is built with the tag e2e.
package bench
