// Package wire reads, edits and writes Model Context Protocol messages
// without losing a byte of what it does not have to change.
//
// In: the bytes of one JSON-RPC 2.0 frame, of any MCP revision. Out: a
// [Message] (the same bytes, plus where their parts are), new Messages made
// by splicing, and frames written to a stream.
//
// What can fail: a frame that is not strict JSON, is too large or too deep,
// is a batch, or can be read in two ways. Every refusal of a frame is an
// [*Error] with a JSON-RPC code; it names the place and never a value. Errors
// of a stream (end of input, a broken pipe) are not an [*Error].
//
// # Two degrees of strictness
//
// The envelope, params and params._meta decide who is called and with what,
// so they have one reading only: a member that occurs twice, or two names
// that differ in letter case only ("Arguments" beside "arguments"), or a
// lone known name in the wrong case, refuse the frame.
//
// Everything below is somebody else's data. It must be JSON in valid UTF-8
// and is otherwise passed verbatim: numbers beyond 2^53, unknown members,
// duplicates and white space survive. A member below is judged when it is
// read: [Message.Member] refuses a name that is there twice or in another
// case as well.
//
// # Edits
//
// An edit returns a new Message and leaves the old one alone. All bytes
// outside the edited member are equal, white space and member order too. A
// member that is added goes to the end of its object; one that is removed
// takes one comma with it.
//
// # Transports
//
// [Reader] and [Writer] are the stdio transport, [EventReader] and
// [EventWriter] the streams of the HTTP transports. [Message.Headers] and
// [Message.CheckHeaders] keep HTTP headers and body one statement. The era of
// a request is its own ([Message.ProtocolVersion]); nothing here has a session.
//
// # Tool definitions
//
// The digest of a tool definition is SHA-256 over the RFC 8785 form of the
// tool object, so that member order and white space do not matter. A
// definition that has no exact RFC 8785 form (a number that would be
// rounded, a duplicate member in a schema, a lone surrogate) is hashed over
// its raw bytes instead; [Tool.Form] says which. The two cannot collide: the
// canonical form always decodes strictly, and bytes that are hashed raw
// never do.
//
// What it must never do: decode a value into Go numbers and print it again,
// choose between two members of one name, or write a frame that was not
// parsed first.
package wire
