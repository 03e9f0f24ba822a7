// Package pgtable reads the rows of a resolver's table from a PostgreSQL
// database.
//
// It takes a connection string, asked for anew each time so that a changed
// password takes effect, and one query that answers alias, id and, if rows
// expire, expires; it gives a resolve.Source. It fails where the database
// cannot be reached, the connection could be read or answered by somebody
// else, the query is not one statement that answers such rows, or a row is
// none. Its errors never hold the connection string.
//
// It promises one read-only transaction of one snapshot for each question,
// with limits on time, rows and bytes, on a connection that is closed
// afterwards. It must never take a query, or a part of one, from arguments.
package pgtable
