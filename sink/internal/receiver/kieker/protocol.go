// Package kieker is Kieker's streams over one socket and over two, and its logs in files.
package kieker

import (
	"hash/maphash"

	"tracetax/sink/internal/files"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/tree"
)

// TCP is Kieker's single socket protocol: a stream of records without framing, read to its end.
// What follows an unknown record cannot be understood: the rest of that connection is read and thrown away, so that
// the sender is not blocked, and the connection counts once as malformed.
var TCP = protocol.Protocol{
	ConnectionBytes: readBytes + batchBytes + maxRegistryBytes + registryPlaces + pairBytes,
	Structure:       func() tree.Structure { return &tree.ExecutionChain{} },
	Receiver:        newReceiver,
}

// DualTCP is the protocol of Kieker up to 1.12: the same records on one port, and their strings on a second one.
var DualTCP = protocol.Protocol{
	ConnectionBytes: maxWaiting + batchBytes + maxRegistryBytes + registryPlaces + pairBytes,
	Structure:       func() tree.Structure { return &tree.ExecutionChain{} },
	Receiver:        newDualReceiver,
	Beside:          "strings",
}

// BinaryFile is Kieker's binary log: the records of its stream without the strings, which stand in the map.
// What follows an unknown record in a file cannot be understood; the next file can.
var BinaryFile = protocol.Protocol{
	Structure: func() tree.Structure { return &tree.ExecutionChain{} },
	Files: &files.Format{
		Extension: ".bin",
		MapName:   mapName,
		MapLine:   maxStringBytes + mapNumberBytes,
		Least:     executionBytes,
		Decoder: func(recordName string) files.Decoder {
			return &binaryFile{stream{recordName: recordName, registryGiven: true}}
		},
	},
}

// TextFile is Kieker's text log: a line for each record, "$class;logged;" and the fields of its class, in which
// strings stand as they are. The map holds the names of the classes.
var TextFile = protocol.Protocol{
	Structure: func() tree.Structure { return &tree.ExecutionChain{} },
	Files: &files.Format{
		Extension: ".dat",
		MapName:   mapName,
		MapLine:   maxStringBytes + mapNumberBytes,
		Least:     executionBytes,
		Decoder: func(recordName string) files.Decoder {
			return &textFile{stream: stream{recordName: recordName}, seed: maphash.MakeSeed()}
		},
	},
}
