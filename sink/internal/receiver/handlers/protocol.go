// Package handlers is the files of Tracetax's own handlers after Cloudprofiler's (agents/cloudprofiler-handlers).
package handlers

import (
	"tracetax/sink/internal/files"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/tree"
)

// File is a folder with a file for each thread, and the names of methods in a map. What follows in a file what cannot
// be understood is given up; the next file can be.
var File = protocol.Protocol{
	Structure: func() tree.Structure { return &tree.ExecutionChain{} },
	Files: &files.Format{
		Extension: ".events",
		MapName:   "methods.map",
		MapLine:   maxName + 16,
		Least:     2 * eventBytes,
		Decoder: func(recordName string) files.Decoder {
			return &decoder{recordName: recordName, methods: map[uint64]method{}}
		},
	},
}
