// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A token for tests that behaves as USDT does on Ethereum, oddities included:
/// no call returns a value, and a fee can be switched on whose Transfer event comes before the payment's own.
contract TestUsdt {
    string public constant name = "Test Tether USD";
    string public constant symbol = "USDT";
    uint8 public immutable decimals;
    address public immutable owner;

    uint256 public totalSupply;
    /// In hundredths of a per cent of the amount sent, taken from it. 0 = off.
    uint256 public feeBasisPoints;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    /// A wallet on it cannot send and can still receive.
    mapping(address => bool) public isBlackListed;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(uint8 decimals_) {
        decimals = decimals_;
        owner = msg.sender;
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner");
        _;
    }

    function transfer(address to, uint256 value) external {
        move(msg.sender, to, value);
    }

    function approve(address spender, uint256 value) external {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
    }

    function transferFrom(address from, address to, uint256 value) external {
        require(allowance[from][msg.sender] >= value, "allowance too low");
        allowance[from][msg.sender] -= value;
        move(from, to, value);
    }

    /// Several transfers in one transaction.
    function batchTransfer(address[] calldata to, uint256[] calldata values) external {
        require(to.length == values.length, "lengths differ");
        for (uint256 i = 0; i < to.length; i++) move(msg.sender, to[i], values[i]);
    }

    function mint(address to, uint256 value) external onlyOwner {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function setFee(uint256 basisPoints) external onlyOwner {
        require(basisPoints < 10_000, "fee too high");
        feeBasisPoints = basisPoints;
    }

    function addBlackList(address user) external onlyOwner {
        isBlackListed[user] = true;
    }

    function removeBlackList(address user) external onlyOwner {
        isBlackListed[user] = false;
    }

    function move(address from, address to, uint256 value) private {
        require(!isBlackListed[from], "blacklisted");
        require(balanceOf[from] >= value, "balance too low");
        uint256 fee = value * feeBasisPoints / 10_000;
        balanceOf[from] -= value;
        if (fee > 0) {
            balanceOf[owner] += fee;
            emit Transfer(from, owner, fee);
        }
        balanceOf[to] += value - fee;
        emit Transfer(from, to, value - fee);
    }
}
