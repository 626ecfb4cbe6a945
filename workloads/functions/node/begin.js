'use strict';

// Required before anything else: marks the beginning.

require('./marks.js').mark('runtime');
