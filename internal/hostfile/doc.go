// Package hostfile reads and replaces files of a node for programs that are confined, or that
// read what others can write: reads are bounded, do not follow links unless said, never block
// on a pipe, and stay below the root directory of the node.
package hostfile
