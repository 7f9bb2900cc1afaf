//! A client of one MCP server.
