'use strict';

// Required before functions-framework, which has no option for the address: whatever listens, listens on 127.0.0.1.

const { Server } = require('node:net');

const { listen } = Server.prototype;

Server.prototype.listen = function (port, ...others) {
  return typeof port === 'object' ? listen.call(this, port, ...others) : listen.call(this, port, '127.0.0.1', ...others);
};
