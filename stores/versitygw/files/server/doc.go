// Package versitygw holds nothing of its own: go.mod beside it says which program is built, and go.sum pins all versions.
package versitygw
